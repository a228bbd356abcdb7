package operator_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/operator"
)

func Example() {
	op := operator.New("widget-operator")
	op.Control(widget{})
	// In main: op.Main(). Execute does the same without ending the process.
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "widget.yaml")
	if err := os.WriteFile(path, []byte(sample), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	code := op.Execute(context.Background(), []string{"run", "--dry-run", "--cr", path}, os.Stdout, os.Stderr)
	fmt.Println("exit code", code)
	// Output:
	// ---
	// # first: ConfigMap/first
	// apiVersion: v1
	// data:
	//   of: first
	// kind: ConfigMap
	// metadata:
	//   name: first
	//   namespace: shop
	// ---
	// # second: ConfigMap/second
	// apiVersion: v1
	// data:
	//   of: second
	// kind: ConfigMap
	// metadata:
	//   name: second
	//   namespace: shop
	// exit code 0
}

func ExampleNew() {
	op := operator.New("widget-operator")
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), []string{"run", "--dry-run"}, os.Stdout, os.Stdout))
	// Output:
	// widget-operator: --dry-run needs the resource to render: add --cr FILE
	// 2
}

func ExampleDomain() {
	op := operator.New("widget-operator", operator.Domain("oper8.org"))
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), []string{"run", "--dry-run"}, os.Stdout, os.Stdout))
	// Output:
	// widget-operator: --dry-run needs the resource to render: add --cr FILE
	// 2
}
