package metrics_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/operator/metrics"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing does nothing.
type nothing struct{}

// shops controls resources of which nothing is made.
type shops struct{}

func (shops) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
}

func (shops) Setup(context.Context, *reconcile.Session) error { return nil }

func (nothing) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

// printed prints the lines of the page that start with one of the names.
func printed(m *metrics.Metrics, names ...string) {
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(line, name) }) {
			fmt.Print(line)
		}
	}
}

func Example() {
	m := metrics.New("shop-operator", "1.0.0")
	// An engine does this: watch.New(view, watch.Around(m.Around)).
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	if _, err := m.Around(nothing{}).Reconcile(context.Background(), request.Request{Key: deploy.Ref{Kind: kind, Name: "tea"}}); err != nil {
		fmt.Println(err)
	}
	printed(m, "controller_runtime_reconcile_total")
	// Output: controller_runtime_reconcile_total{controller="Shop",result="success"} 1
}

// What the parts of an operator's process tell, which package operator puts together like this.
func ExampleMetrics() {
	m := metrics.New("shop-operator", "1.0.0")
	m.Leads(true)
	m.Pauses(false)
	m.Events(func() uint64 { return 3 })
	if err := m.Collect(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "shop_tills", Help: "Tills that are open."}, func() float64 { return 2 })); err != nil {
		log.Fatal(err)
	}
	printed(m, "leader_election_master_status", "operkit_kubernetes_events_dropped_total", "shop_tills")
	// Output:
	// leader_election_master_status{name="shop-operator"} 1
	// operkit_kubernetes_events_dropped_total 3
	// shop_tills 2
}

// answering is an API server that answers all with one code.
type answering int

func (a answering) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(a), Body: http.NoBody, Request: req}, nil
}

func ExampleMetrics_Transport() {
	m := metrics.New("shop-operator", "1.0.0")
	client := http.Client{Transport: m.Transport(answering(http.StatusConflict))} // of a rest.Config: config.Wrap(m.Transport)
	answer, err := client.Get("https://api.example.dev")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, answer.Body.Close())
	printed(m, "rest_client_requests_total")
	// Output:
	// 409 <nil>
	// rest_client_requests_total{code="409",host="api.example.dev",method="GET"} 1
}

// The state of an engine is read when somebody asks for the page, and so is how it stands with the resources.
func ExampleMetrics_Engine() {
	memory, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		log.Fatal(err)
	}
	m := metrics.New("shop-operator", "1.0.0")
	engine, err := watch.New(memory.View(), watch.Workers(4), watch.Around(m.Around))
	if err != nil {
		log.Fatal(err)
	}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		log.Fatal(err)
	}
	reconciler, err := reconcile.New(shops{}, manager)
	if err != nil {
		log.Fatal(err)
	}
	m.Engine(engine)
	m.Resources(reconciler.Kind(), reconciler)
	printed(m, "controller_runtime_max_concurrent_reconciles", "operkit_resources{")
	// Output:
	// controller_runtime_max_concurrent_reconciles{controller="all"} 4
	// operkit_resources{controller="Shop",standing="deleting"} 0
	// operkit_resources{controller="Shop",standing="failing"} 0
	// operkit_resources{controller="Shop",standing="paused"} 0
	// operkit_resources{controller="Shop",standing="refused"} 0
	// operkit_resources{controller="Shop",standing="settled"} 0
	// operkit_resources{controller="Shop",standing="waiting"} 0
}

func ExampleMetrics_Renew() {
	m := metrics.New("shop-operator", "1.0.0")
	book := &standing.Book{}
	book.Set(deploy.Ref{Kind: shops{}.Kind(), Namespace: "market", Name: "tea"}, standing.Settled)
	m.Resources(shops{}.Kind(), book)
	m.Renew() // after a pause, before the new reconcilers are added
	printed(m, `operkit_resources{controller="Shop",standing="settled"}`)
	m.Resources(shops{}.Kind(), book)
	printed(m, `operkit_resources{controller="Shop",standing="settled"}`)
	// Output: operkit_resources{controller="Shop",standing="settled"} 1
}

func ExampleMetrics_Released() {
	m := metrics.New("shop-operator", "1.0.0")
	kind := shops{}.Kind()
	book := &standing.Book{}
	book.Set(deploy.Ref{Kind: kind, Namespace: "market", Name: "tea"}, standing.Settled)
	m.Resources(kind, book)
	printed(m, `operkit_resources{controller="Shop",standing="settled"}`)
	m.Released(kind) // when its definition is deleted, for example
	printed(m, `operkit_resources{controller="Shop",standing="settled"}`)
	// Output: operkit_resources{controller="Shop",standing="settled"} 1
}
