"""One module per platform: whose work the names in a download are, or that they are not that platform's."""
