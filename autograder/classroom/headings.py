"""What columns of a class list are called that no platform known here exported, in the languages we have met."""

_CALLED = {
    "id": "id|sid|student id|student number|id number|学号|學號|id号|matrikelnummer|id-nummer|número de id|"
    "numéro d'identification",
    "login": "login|username|用户名|账号|anmeldename|nombre de usuario|nom d'utilisateur",
    "name": "name|full name|姓名|全名|vollständiger name|nombre completo|nom complet",
    "first name": "first name|given name|名|名字|vorname|nombre|prénom",
    "last name": "last name|surname|family name|姓|姓氏|nachname|apellido(s)|nom|nom de famille",
    "email": "email|e-mail|mail|email address|邮箱|电子邮件|电子邮箱|e-mail-adresse|dirección de correo|"
    "adresse de courriel",
}
MEANINGS = tuple(_CALLED)
_MEANS = {heading: meaning for meaning, headings in _CALLED.items() for heading in headings.split("|")}


def meaning(heading: str) -> str:
    """Return which of :data:`MEANINGS` a heading has; itself where it has none."""
    return _MEANS.get(heading.strip().casefold(), heading)
