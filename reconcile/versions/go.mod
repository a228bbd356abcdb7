module github.com/operkit/operkit/reconcile/versions

go 1.26.0

require (
	github.com/fxamacker/cbor/v2 v2.9.3
	github.com/operkit/operkit/dag v0.0.0
	github.com/operkit/operkit/deploy v0.0.0
	github.com/operkit/operkit/reconcile v0.0.0
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
	k8s.io/apimachinery v0.37.2
)

replace (
	github.com/operkit/operkit/dag => ../../dag
	github.com/operkit/operkit/deploy => ../../deploy
	github.com/operkit/operkit/reconcile => ../../reconcile
	github.com/operkit/operkit/smp => ../../smp
	github.com/operkit/operkit/status => ../../status
	github.com/operkit/operkit/tools/envtest => ../../tools/envtest
)
