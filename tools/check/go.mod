module github.com/operkit/operkit/tools/check

go 1.26.0

require (
	github.com/google/licensecheck v0.3.1
	github.com/operkit/operkit/tools/envtest v0.0.0
	golang.org/x/mod v0.41.0
	golang.org/x/tools v0.51.0
)

require golang.org/x/sync v0.23.0 // indirect

replace github.com/operkit/operkit/tools/envtest => ../envtest
