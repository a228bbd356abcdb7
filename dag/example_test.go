package dag_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/dag"
)

func Example() {
	ctx := context.Background()
	migrated := func(context.Context) (bool, error) { return true, nil }

	g := dag.New[func(context.Context) error]()
	for name, start := range map[string]func(context.Context) error{
		"db":    func(context.Context) error { return nil },
		"web":   func(context.Context) error { return nil },
		"mail":  func(context.Context) error { return errors.New("no route to host") },
		"alert": func(context.Context) error { return nil },
	} {
		if err := g.Add(name, start); err != nil {
			fmt.Println(err)
		}
	}
	for _, err := range []error{
		g.Depend("web", "db", dag.When(migrated)), // web waits until db is up and migrated
		g.Depend("alert", "mail"),
		g.Depend("db", "web"), // refused: it would close a cycle
	} {
		if err != nil {
			fmt.Println(err)
		}
	}

	state, err := dag.Run(ctx, g, dag.Call, dag.Concurrency(8))
	if err != nil {
		fmt.Println(err) // invalid options, or ctx ended
	}
	fmt.Println("up:", state.Verified())
	fmt.Println("failed:", state.Failed(), state.Err("mail"))
	for _, name := range state.Unstarted() {
		fmt.Println("not started:", name, "-", state.Reason(name))
	}
	// Output:
	// node "db": would wait for itself: db -> web -> db
	// up: [db web]
	// failed: [mail] no route to host
	// not started: alert - waits for mail (failed)
}
