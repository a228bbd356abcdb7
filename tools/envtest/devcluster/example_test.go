package devcluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/operkit/operkit/tools/envtest/devcluster"
)

func ExampleBinary() {
	path, err := devcluster.Binary(context.Background(), os.Stderr)
	if err != nil {
		fmt.Println(err)
		return
	}
	output, err := exec.Command(path, "version").Output()
	fmt.Println(len(output) > 0, err)
	// Output: true <nil>
}

func ExamplePreflightError() {
	var lacks *devcluster.PreflightError
	path, err := devcluster.Binary(context.Background(), os.Stderr)
	switch {
	case errors.As(err, &lacks):
		fmt.Println("this machine can't build the program:", lacks)
	case err == nil:
		fmt.Println("the program is there:", path != "")
	}
	// Output: the program is there: true
}

func ExampleStart() {
	ctx := context.Background()
	cluster, err := devcluster.Start(ctx, devcluster.StartOptions{Progress: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return
	}
	state, err := cluster.State() // cluster.Kubeconfig() is for clients
	fmt.Println(state.Ready, err)
	fmt.Println(cluster.Stop(ctx))
	// Output:
	// true <nil>
	// <nil>
}

// What a program does to a cluster that another one has started and told it by its folder.
func ExampleCluster() {
	ctx := context.Background()
	started, err := devcluster.Start(ctx, devcluster.StartOptions{Progress: os.Stderr, Flags: []string{"--components=etcd,apiserver"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	cluster, err := devcluster.Open(started.Dir(), os.Stderr)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = os.Stat(cluster.Kubeconfig())
	fmt.Println("clients find it:", err == nil)
	for _, step := range []func(ctx context.Context, name string) error{cluster.StopComponent, cluster.StartComponent, cluster.RestartComponent} {
		if err := step(ctx, devcluster.APIServer); err != nil {
			fmt.Println(err)
		}
	}
	state, err := cluster.State()
	fmt.Println(state.Ready, state.Has(devcluster.Etcd), state.Has(devcluster.ControllerManager), err)
	for _, component := range state.Components {
		fmt.Println(component.Name, component.PID > 0)
	}
	fmt.Println("it said something:", strings.TrimSpace(started.Log()) != "")
	fmt.Println(started.Stop(ctx))
	// Output:
	// clients find it: true
	// true true false <nil>
	// etcd true
	// apiserver true
	// it said something: true
	// <nil>
}

func ExampleOpen() {
	_, err := devcluster.Open("/no/such/folder", os.Stderr)
	fmt.Println(err)
	// Output: cluster /no/such/folder: there is none in this folder: cluster: open /no/such/folder/state.json: no such file or directory
}
