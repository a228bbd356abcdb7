package dag_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/dag"
)

// site is the graph of the examples: web waits for api and cache, api for db.
func site() *dag.Graph[int] {
	g := dag.New[int]()
	for port, name := range []string{"web", "api", "db", "cache"} {
		_ = g.Add(name, 8000+port)
	}
	_ = g.Depend("web", "api")
	_ = g.Depend("web", "cache")
	_ = g.Depend("api", "db")
	return g
}

func start(_ context.Context, name string, port int) error {
	fmt.Println("start", name, "on", port)
	return nil
}

func ExampleNew() {
	g := dag.New[string]()
	fmt.Println(g.Len(), g)
	// Output: 0 Graph({})
}

func ExampleGraph_Add() {
	g := dag.New[int]()
	fmt.Println(g.Add("db", 5432))
	fmt.Println(g.Add("db", 5433))
	fmt.Println(errors.Is(g.Add("", 0), dag.ErrInvalidNode))
	// Output:
	// <nil>
	// node "db": the graph already has a node of that name
	// true
}

func ExampleGraph_Depend() {
	g := site()
	fmt.Println(g.Depend("db", "cache"))
	fmt.Println(g.Depend("db", "disk"))
	err := g.Depend("db", "web")
	var cycle *dag.CycleError
	if errors.As(err, &cycle) {
		fmt.Println(cycle.Path)
	}
	// Output:
	// <nil>
	// node "disk": not in the graph, but named as the child of a dependency: add it first
	// [db web api db]
}

func ExampleWhen() {
	g := site()
	ready := func(context.Context) (bool, error) { return false, nil }
	_ = g.Depend("api", "db", dag.When(ready))
	state, _ := dag.Run(context.Background(), g, nil)
	fmt.Println(state.Unstarted(), state.Reason("api"))
	// Output: [api web] predicate false on edge to db
}

func ExampleGraph_Disable() {
	g := site()
	g.Disable("cache")
	state, _ := dag.Run(context.Background(), g, nil)
	fmt.Println(state.Verified(), state.Unstarted())
	fmt.Println(state.Reason("cache"), "/", state.Reason("web"))
	// Output:
	// [api db] [cache web]
	// disabled / waits for cache (disabled)
}

func ExampleGraph_Enable() {
	g := site()
	g.Disable("cache")
	g.Disable("cache")
	g.Enable("cache")
	state, _ := dag.Run(context.Background(), g, nil)
	fmt.Println(state.VerifyCompleted())
	// Output: true
}

func ExampleGraph_Len() {
	fmt.Println(site().Len())
	// Output: 4
}

func ExampleGraph_Names() {
	fmt.Println(site().Names())
	// Output: [web api db cache]
}

func ExampleGraph_Node() {
	port, ok := site().Node("db")
	fmt.Println(port, ok)
	_, ok = site().Node("disk")
	fmt.Println(ok)
	// Output:
	// 8002 true
	// false
}

func ExampleGraph_Topology() {
	fmt.Println(site().Topology())
	// Output: [db api cache web]
}

func ExampleGraph_String() {
	fmt.Println(site())
	// Output: Graph({web:[api,cache],api:[db],db:[],cache:[]})
}

func ExampleGraph_Validate() {
	fmt.Println(site().Validate())
	// Output: <nil>
}

func ExampleRun() {
	state, err := dag.Run(context.Background(), site(), start, dag.Concurrency(1))
	fmt.Println(state.VerifyCompleted(), err)
	// Output:
	// start cache on 8003
	// start db on 8002
	// start api on 8001
	// start web on 8000
	// true <nil>
}

func ExampleRun_cancelled() {
	ctx, cancel := context.WithCancel(context.Background())
	state, err := dag.Run(ctx, site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			cancel()
		}
		return nil
	}, dag.Concurrency(0))
	fmt.Println(err)
	fmt.Println(state.Verified(), state.Reason("api"))
	// Output:
	// context canceled
	// [cache db] cancelled
}

func ExampleCall() {
	g := dag.New[func(context.Context) error]()
	_ = g.Add("greet", func(context.Context) error {
		fmt.Println("hello")
		return nil
	})
	state, _ := dag.Run(context.Background(), g, dag.Call)
	fmt.Println(state.Verified())
	// Output:
	// hello
	// [greet]
}

func ExampleConcurrency() {
	busy := 0 // no lock: 0 visits on the goroutine that called Run
	_, _ = dag.Run(context.Background(), site(), func(context.Context, string, int) error {
		busy++
		return nil
	}, dag.Concurrency(0))
	fmt.Println(busy)
	_, err := dag.Run(context.Background(), site(), nil, dag.Concurrency(-1))
	fmt.Println(err)
	// Output:
	// 4
	// run: concurrency -1: invalid option: want 0 (no goroutines) or more
}

func ExampleDefaultConcurrency() {
	n := dag.DefaultConcurrency()
	fmt.Println(n > 4, n <= 32)
	// Output: true true
}

func ExampleFailFast() {
	broken := func(_ context.Context, name string, _ int) error {
		if name == "cache" {
			return errors.New("out of memory")
		}
		return nil
	}
	state, _ := dag.Run(context.Background(), site(), broken, dag.Concurrency(1))
	fmt.Println(state.Verified())
	state, _ = dag.Run(context.Background(), site(), broken, dag.Concurrency(1), dag.FailFast())
	fmt.Println(state.Verified(), state.Reason("db"))
	// Output:
	// [api db]
	// [] stopped after the error of cache
}

func ExampleWithoutPredicates() {
	g := site()
	_ = g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return false, nil }))
	state, _ := dag.Run(context.Background(), g, nil, dag.WithoutPredicates())
	fmt.Println(state.VerifyCompleted())
	// Output: true
}

func ExamplePollInterval() {
	g := site()
	warm := time.Now().Add(30 * time.Millisecond)
	_ = g.Depend("api", "db", dag.When(func(context.Context) (bool, error) { return time.Now().After(warm), nil }))
	state, _ := dag.Run(context.Background(), g, func(_ context.Context, name string, _ int) error {
		if name == "cache" {
			time.Sleep(100 * time.Millisecond) // as long as this is in flight, the predicate is asked
		}
		return nil
	}, dag.PollInterval(5*time.Millisecond))
	fmt.Println(state.VerifyCompleted())
	// Output: true
}

func ExampleUnverified() {
	state, _ := dag.Run(context.Background(), site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			return dag.Unverified(dag.Expected(errors.New("still starting")))
		}
		return nil
	})
	fmt.Println(state.Unverified(), state.Err("db"))
	fmt.Println(state.Unstarted(), state.Reason("api"))
	fmt.Println("failed:", state.HasFailed())
	// Output:
	// [db] still starting
	// [api web] waits for db (unverified)
	// failed: false
}

func ExampleExpected() {
	var flag interface{ Fatal() bool }
	err := dag.Expected(errors.New("still starting"))
	fmt.Println(err, errors.As(err, &flag) && flag.Fatal())
	// Output: still starting false
}

func ExamplePanicError() {
	state, _ := dag.Run(context.Background(), site(), func(_ context.Context, name string, _ int) error {
		if name == "db" {
			panic("no disk")
		}
		return nil
	})
	var caught *dag.PanicError
	found := errors.As(state.Err("db"), &caught)
	file, _, _ := strings.Cut(caught.Location(), ":")
	fmt.Println(found, caught.Value, file)
	// Output: true no disk examples_test.go
}

func ExampleNewState() {
	state, err := dag.NewState(dag.Outcomes{
		Verified:  []string{"db"},
		Unstarted: []string{"web"},
		Reasons:   map[string]string{"web": "no time"},
	})
	fmt.Println(state.All(), state.Reason("web"), err)
	_, err = dag.NewState(dag.Outcomes{Verified: []string{"db"}, Failed: []string{"db"}})
	fmt.Println(err)
	// Output:
	// [db web] no time <nil>
	// node "db": both verified and failed: a node has exactly one outcome: list it in one set
}

// mixed is a run in which each outcome occurs: db is verified, api unverified, cache failed, web
// unstarted.
func mixed() dag.State {
	state, _ := dag.Run(context.Background(), site(), func(_ context.Context, name string, _ int) error {
		switch name {
		case "api":
			return dag.Unverified(dag.Expected(errors.New("still starting")))
		case "cache":
			return errors.New("out of memory")
		}
		return nil
	}, dag.Concurrency(1))
	return state
}

func ExampleState() {
	state := mixed()
	fmt.Println(state.Verified(), state.Unverified(), state.Failed(), state.Unstarted(), state.All())
	fmt.Println(state.DeployCompleted(), state.VerifyCompleted(), state.HasFailed())
	// Output:
	// [db] [api] [cache] [web] [api cache db web]
	// false false true
}

func ExampleState_Errors() {
	for _, err := range mixed().Errors() {
		fmt.Println(err.Name, "-", err.Err)
	}
	// Output:
	// cache - out of memory
	// api - still starting
}

func ExampleState_Err() {
	fmt.Println(mixed().Err("cache"))
	fmt.Println(mixed().Err("db"))
	// Output:
	// out of memory
	// <nil>
}

func ExampleState_JoinedErr() {
	fmt.Println(mixed().JoinedErr())
	// Output:
	// node "cache": out of memory
	// node "api": still starting
}

func ExampleState_Headline() {
	fmt.Println(mixed().Headline())
	// Output: node "cache": out of memory
}

func ExampleState_Reason() {
	fmt.Println(mixed().Reason("web"))
	// Output: waits for cache (failed)
}

func ExampleState_Equal() {
	same, _ := dag.NewState(dag.Outcomes{
		Verified: []string{"db"}, Unverified: []string{"api"}, Failed: []string{"cache"}, Unstarted: []string{"web"},
	})
	fmt.Println(mixed().Equal(same))
	// Output: true
}

func ExampleState_String() {
	fmt.Println(mixed())
	// Output:
	// Verified: [db]
	// Unverified: [api]
	// Failed: [cache]
	// Unstarted: [web]
	// Error: node "cache": out of memory; node "api": still starting
}

func ExampleUnknownNodeError() {
	err := site().Depend("web", "cdn")
	var unknown *dag.UnknownNodeError
	if errors.As(err, &unknown) {
		fmt.Println(unknown.Name, unknown.Role == dag.RoleChild)
	}
	fmt.Println(err)
	// Output:
	// cdn true
	// node "cdn": not in the graph, but named as the child of a dependency: add it first
}
