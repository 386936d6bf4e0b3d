"""The side that guards: it starts children, asks them, watches over them and believes nothing unchecked."""
