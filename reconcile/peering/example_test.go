package peering_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/peering"
)

// guestbooks are the processes of an operator.
var guestbooks = peering.Group{Domain: "operkit.dev", Operator: "guestbook-operator", Namespace: "guestbook"}

// inMemory is a cluster in memory. An operator uses one of package deploy/cluster.
func inMemory() *dryrun.Cluster {
	memory, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		panic(err)
	}
	return memory
}

func ExampleNew() {
	memory := inMemory()
	peers, err := peering.New(memory, peering.Config{Group: guestbooks, Priority: 100, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	// An operator passes Run of its engine, whose client goes through Transport.
	client := http.Client{Transport: peers.Transport(http.DefaultTransport)}
	err = peers.Run(context.Background(), func(ctx context.Context) error {
		_ = client // sends requests until ctx ends
		listed, err := guestbooks.List(ctx, memory.Port())
		fmt.Println("works, with", len(listed), "Lease of the priority", listed[0].Priority)
		return err
	})
	fmt.Println(len(memory.Objects()), "Leases are left", err)
	// Output:
	// works, with 1 Lease of the priority 100
	// 0 Leases are left <nil>
}

func ExampleJudge() {
	now := time.Now()
	inCluster := peering.Peer{Lease: "a", Holder: "guestbook-operator-5d9f7", Priority: 0, Ends: now.Add(15 * time.Second)}
	developer := peering.Peer{Lease: "b", Holder: "laptop", Priority: 100, Ends: now.Add(15 * time.Second)}
	all := []peering.Peer{inCluster, developer}
	for _, own := range all {
		var v peering.Verdict = peering.Judge(own, all, now)
		fmt.Println(own.Holder, v.Paused(), v)
	}
	fmt.Println(peering.Judge(inCluster, all, now.Add(time.Minute)).Why == peering.None)
	// Output:
	// guestbook-operator-5d9f7 true paused: laptop works, which has the higher priority 100
	// laptop false works
	// true
}

func ExampleGroup_Freeze() {
	memory, ctx := inMemory(), context.Background()
	if err := guestbooks.Freeze(ctx, memory.Port(), "anna@laptop", 10*time.Minute); err != nil {
		fmt.Println(err)
	}
	var listed []peering.Listed
	listed, err := guestbooks.List(ctx, memory.Port())
	fmt.Println(listed[0].Frozen, listed[0].Holder, listed[0].Lasts, err)
	was, err := guestbooks.Thaw(ctx, memory.Port())
	fmt.Println("was frozen:", was, err)
	// Output:
	// true anna@laptop 10m0s <nil>
	// was frozen: true <nil>
}

func ExampleGroup_Selector() {
	fmt.Println(guestbooks.Selector())
	// Output: operkit.dev/peering=guestbook-operator
}

func ExampleParsePriority() {
	fmt.Println(peering.ParsePriority("100"))
	fmt.Println(peering.ParsePriority("high"))
	// Output:
	// 100 <nil>
	// 0 priority "high": use a whole number, such as 100
}
