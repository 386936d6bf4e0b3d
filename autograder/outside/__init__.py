"""What comes in from strangers and goes out to people: names of files, archives, text for tables, pages, terminals."""
