module github.com/operkit/operkit/tools/release

go 1.26.0

require (
	github.com/gofrs/flock v0.13.1
	github.com/operkit/operkit/tools/check v0.0.0
	github.com/operkit/operkit/tools/envtest v0.0.0
	github.com/spf13/cobra v1.10.2
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	golang.org/x/exp v0.0.0-20260908205506-85c1c2202aba
	golang.org/x/mod v0.41.0
	golang.org/x/tools v0.51.0
)

require (
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.10 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.48.0 // indirect
)

replace (
	github.com/operkit/operkit/tools/check => ../check
	github.com/operkit/operkit/tools/envtest => ../envtest
)
