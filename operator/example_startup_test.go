package operator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/rest"
)

// offline is how the examples run an operator that never reaches a cluster.
var offline = []string{"run", "--kubeconfig", filepath.Join("testdata", "good.kubeconfig"), "--leader-election.lock", "none", "--log.level", "error"}

func ExampleStartup() {
	ledger := operator.Startup("ledger", func(ctx context.Context, p operator.Process) (func(context.Context) error, error) {
		fmt.Println("the ledger of the", p.Operator, "is open")
		return func(context.Context) error {
			fmt.Println("the ledger is closed:", context.Cause(ctx))
			return nil
		}, nil
	})
	shop := operator.Startup("shop", func(context.Context, operator.Process) (func(context.Context) error, error) {
		return nil, errors.New("the key is lost")
	})
	op := operator.New("widget-operator", ledger, shop)
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), offline, os.Stdout, os.Stdout))
	// Output:
	// the ledger of the widget-operator is open
	// the ledger is closed: startup shop: the key is lost
	// widget-operator: startup shop: the key is lost
	// 1
}

// The files that name the kinds of an operator are read for each command.
func ExamplePrepare() {
	read := func() error { return errors.New("kinds.yaml: no such file") }
	op := operator.New("shop-operator",
		operator.Startup("kinds", func(context.Context, operator.Process) (func(context.Context) error, error) { return nil, read() }),
		operator.Prepare("kinds", func(context.Context, operator.Process) error { return read() }),
	)
	op.DriveKinds(kinds.Selector{Group: "shop.example.dev"}, func(context.Context, watch.Env, deploy.ServedKind) (watch.Reconciler, error) {
		return nil, nil
	})
	op.Execute(context.Background(), slices.Concat([]string{"status"}, offline[1:]), os.Stdout, os.Stdout)
	// Output: shop-operator: preparation kinds: kinds.yaml: no such file
}

// printPage prints what an operator serves at an address.
func printPage(address, path string) {
	answer, err := http.Get("http://" + address + path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	fmt.Print(answer.StatusCode, " ", string(text))
	if err != nil {
		fmt.Println(err)
	}
}

// freeAddress returns an address that nobody uses.
func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err.Error()
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().String()
}

func ExampleAlive() {
	address := freeAddress()
	op := operator.New("widget-operator",
		operator.Alive("orders", func(context.Context) (any, error) { return 42, nil }),
		operator.Startup("show", func(context.Context, operator.Process) (func(context.Context) error, error) {
			printPage(address, "/healthz")
			return nil, errors.New("that is all")
		}))
	op.Control(widget{})
	op.Execute(context.Background(), append(offline, "--health.address", address), io.Discard, io.Discard)
	// Output:
	// 200 ok
	// orders: 42
}

func ExampleLogin() {
	login := operator.Login(func(_ context.Context, c config.Config) (*rest.Config, error) {
		fmt.Println("logging in, with", c.KubeAPI.QPS, "requests a second")
		return nil, errors.New("the vault is sealed")
	})
	op := operator.New("widget-operator", login)
	op.Control(widget{})
	fmt.Println(op.Execute(context.Background(), offline, os.Stdout, os.Stdout))
	// Output:
	// logging in, with 200 requests a second
	// widget-operator: login: the vault is sealed
	// 1
}

// books is the client of a ledger that is down.
type books struct{}

func (books) PingContext(context.Context) error { return errors.New("connection refused") }
func (books) Close() error                      { return nil }

// Another system is needed from the start.
func ExampleStartup_ledger() {
	ledger := books{}
	opening := func(ctx context.Context, p operator.Process) (cleanup func(context.Context) error, err error) {
		if err := ledger.PingContext(ctx); err != nil {
			return nil, err
		}
		return func(context.Context) error {
			p.Logger.Info("closing the ledger", "why", context.Cause(ctx))
			return ledger.Close()
		}, nil
	}
	op := operator.New("guestbook-operator", operator.Startup("ledger", opening))
	op.Control(widget{})
	op.Execute(context.Background(), offline, os.Stdout, os.Stdout)
	// Output: guestbook-operator: startup ledger: connection refused
}

// A ledger that is down keeps the operator from being ready. No restart would help.
func ExampleReady() {
	var orders atomic.Int64
	ledger, address := books{}, freeAddress()
	op := operator.New("guestbook-operator",
		operator.Alive("orders", func(context.Context) (any, error) { return orders.Load(), nil }),
		operator.Ready("ledger", func(ctx context.Context) (any, error) { return nil, ledger.PingContext(ctx) }),
	)
	op.Control(widget{})
	show := operator.Startup("show", func(context.Context, operator.Process) (func(context.Context) error, error) {
		printPage(address, "/healthz")
		printPage(address, "/readyz")
		return nil, errors.New("that is all")
	})
	show(op)
	op.Execute(context.Background(), append(offline, "--health.address", address), io.Discard, io.Discard)
	// Output:
	// 200 ok
	// orders: 0
	// 503 the operator is starting: startup show
	// ledger: connection refused
}
