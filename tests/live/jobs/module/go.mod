module example.invalid/job

go 1.18
