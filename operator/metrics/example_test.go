package metrics_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/operkit/operkit/operator/metrics"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// nothing does nothing.
type nothing struct{}

func (nothing) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

func Example() {
	m := metrics.New("shop-operator", "1.0.0")
	// An engine does this: watch.New(view, watch.Around(m.Around)).
	kind := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	if _, err := m.Around(nothing{}).Reconcile(context.Background(), request.Request{Key: request.Key{Kind: kind, Name: "tea"}}); err != nil {
		fmt.Println(err)
	}
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(answer.Body.String()) {
		if strings.HasPrefix(line, "controller_runtime_reconcile_total") {
			fmt.Print(line)
		}
	}
	// Output: controller_runtime_reconcile_total{controller="Shop",result="success"} 1
}
