module github.com/operkit/operkit/reconcile/kit

go 1.26.0

replace (
	github.com/operkit/operkit/dag => ../../dag
	github.com/operkit/operkit/deploy => ../../deploy
	github.com/operkit/operkit/reconcile => ../../reconcile
	github.com/operkit/operkit/smp => ../../smp
	github.com/operkit/operkit/status => ../../status
	github.com/operkit/operkit/tools/envtest => ../../tools/envtest
)

require (
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect
