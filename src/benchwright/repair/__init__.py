"""What follows a verdict: pushes, repairs of rows, uploads, resumes, freed disks. Each is refused before it harms."""
