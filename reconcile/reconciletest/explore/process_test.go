package explore

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
)

// processOf is the environment variable with the order of a process.
const processOf = "OPERKIT_EXPLORE_PROCESS"

// order is what a process does: it runs an operator of the table on an API server until it has nothing left to do, once
// for each line that it reads. It prints a line after each time.
type order struct {
	Fault, Namespace string
	// Host and the rest are from a rest.Config.
	Host        string
	TLS         rest.TLSClientConfig
	Impersonate rest.ImpersonationConfig
	// The process kills itself at a write of a step, both counted from 1, before it or after it; 0 for never.
	Step, Write int
	After       bool
}

// quiet is how long nothing happens until an operator on an API server has nothing left to do.
const quiet = time.Second

// operate runs the process. It returns the exit code.
func operate() int {
	var o order
	if err := json.Unmarshal([]byte(os.Getenv(processOf)), &o); err != nil {
		fmt.Println(err)
		return 1
	}
	c, err := cluster.New(context.Background(), &rest.Config{Host: o.Host, TLSClientConfig: o.TLS, Impersonate: o.Impersonate, QPS: -1}, cluster.Namespaces(o.Namespace))
	if err != nil {
		fmt.Println(err)
		return 1
	}
	trial := newTrial(context.Background())
	trial.run(func() {
		killed := &suicidal{Cluster: c, order: o}
		h := operatorCalled(o.Fault).start(trial, false, reconciletest.On(killed, quiet), reconciletest.Namespace(o.Namespace))
		for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
			killed.step()
			h.RunUntilSettled()
			fmt.Println("settled")
		}
	})
	trial.end()
	if trial.failure != "" {
		fmt.Println(trial.failure)
		return 1
	}
	return 0
}

// operatorCalled returns the operator of the table with a fault.
func operatorCalled(fault string) operator {
	for _, row := range faultyOperators() {
		if row.fault == fault {
			return row.operator
		}
	}
	return operator{}
}

// suicidal is a cluster at one of whose writes the process kills itself.
type suicidal struct {
	deploy.Cluster
	order order

	mu            sync.Mutex
	steps, writes int
}

// step begins the next step.
func (s *suicidal) step() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps, s.writes = s.steps+1, 0
}

// Port implements deploy.Cluster.
func (s *suicidal) Port() deploy.Port { return suicidalPort{s.Cluster.Port(), s} }

// write sends a write, unless the process ends before it.
func (s *suicidal) write(send func() error) error {
	s.mu.Lock()
	s.writes++
	ends := s.steps == s.order.Step && s.writes == s.order.Write
	s.mu.Unlock()
	if ends && !s.order.After {
		kill()
	}
	err := send()
	if ends {
		kill()
	}
	return err
}

// kill ends the process at once.
func kill() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal may take a moment
}

type suicidalPort struct {
	deploy.Port
	cluster *suicidal
}

// Create implements deploy.Port.
func (p suicidalPort) Create(ctx context.Context, obj *unstructured.Unstructured, o deploy.CreateOptions) (made *unstructured.Unstructured, err error) {
	err = p.cluster.write(func() (err error) {
		made, err = p.Port.Create(ctx, obj, o)
		return err
	})
	return made, err
}

// Update implements deploy.Port.
func (p suicidalPort) Update(ctx context.Context, obj *unstructured.Unstructured, o deploy.UpdateOptions) (made *unstructured.Unstructured, err error) {
	err = p.cluster.write(func() (err error) {
		made, err = p.Port.Update(ctx, obj, o)
		return err
	})
	return made, err
}

// Apply implements deploy.Port.
func (p suicidalPort) Apply(ctx context.Context, obj *unstructured.Unstructured, o deploy.ApplyOptions) (applied deploy.Applied, err error) {
	err = p.cluster.write(func() (err error) {
		applied, err = p.Port.Apply(ctx, obj, o)
		return err
	})
	return applied, err
}

// Patch implements deploy.Port.
func (p suicidalPort) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (made *unstructured.Unstructured, err error) {
	err = p.cluster.write(func() (err error) {
		made, err = p.Port.Patch(ctx, ref, patch)
		return err
	})
	return made, err
}

// Delete implements deploy.Port.
func (p suicidalPort) Delete(ctx context.Context, ref deploy.Ref, o deploy.DeleteOptions) error {
	return p.cluster.write(func() error { return p.Port.Delete(ctx, ref, o) })
}
