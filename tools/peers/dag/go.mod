module github.com/operkit/operkit/tools/peers/dag

go 1.26.0

require (
	github.com/heimdalr/dag v1.5.0
	github.com/operkit/operkit/dag v0.0.0
	github.com/operkit/operkit/tools/peers/ratio v0.0.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/sync v0.24.0
)

require (
	github.com/emirpasic/gods v1.18.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
)

replace (
	github.com/operkit/operkit/dag => ../../../dag
	github.com/operkit/operkit/tools/peers/ratio => ../ratio
)
