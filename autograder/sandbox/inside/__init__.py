"""What shares a process with student code, or becomes that process: it knows no test and no expected value."""
