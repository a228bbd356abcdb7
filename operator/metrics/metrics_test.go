package metrics

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgets = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}

type reconcilerFunc func(ctx context.Context, req request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}

// page is what a scraper is given.
func (m *Metrics) page(t *testing.T) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, answer.Code)
	return answer.Body.String()
}

func TestReconciles(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }))
	defer server.Close()
	m := New("widget-operator", "1.2.3")
	client := http.Client{Transport: m.Transport(http.DefaultTransport)}
	for reason, row := range map[string]struct {
		do      func(ctx context.Context) (request.Result, error)
		attempt int
		limit   time.Duration
	}{
		"well":        {do: func(context.Context) (request.Result, error) { return request.Result{}, nil }},
		"again later": {do: func(context.Context) (request.Result, error) { return request.Result{RequeueAfter: time.Minute}, nil }},
		"failed":      {do: func(context.Context) (request.Result, error) { return request.Result{}, errors.New("no") }, attempt: 2},
		"failed for good": {do: func(context.Context) (request.Result, error) {
			return request.Result{}, request.Permanent(errors.New("no"))
		}},
		"panicked": {do: func(context.Context) (request.Result, error) { panic("out of cheese") }},
		"too long": {do: func(ctx context.Context) (request.Result, error) {
			<-ctx.Done()
			return request.Result{}, ctx.Err()
		}, limit: 10 * time.Millisecond},
		"three calls": {do: func(ctx context.Context) (request.Result, error) {
			for range 3 {
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
				if err != nil {
					return request.Result{}, err
				}
				resp, err := client.Do(req)
				if err != nil {
					return request.Result{}, err
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			return request.Result{}, nil
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(row.limit, time.Hour))
		reconciler := m.Around(reconcilerFunc(func(ctx context.Context, _ request.Request) (request.Result, error) { return row.do(ctx) }))
		func() {
			defer func() { assert.Equal(t, reason == "panicked", recover() != nil, reason) }()
			_, _ = reconciler.Reconcile(ctx, request.Request{Key: deploy.Ref{Kind: widgets, Name: "a"}, Attempt: row.attempt, Waited: time.Second})
		}()
		cancel()
	}
	page := m.page(t)
	host := strings.TrimPrefix(server.URL, "http://")
	for _, want := range []string{
		`controller_runtime_reconcile_total{controller="Widget",result="success"} 2`,
		`controller_runtime_reconcile_total{controller="Widget",result="requeue_after"} 1`,
		`controller_runtime_reconcile_total{controller="Widget",result="error"} 4`,
		`controller_runtime_reconcile_errors_total{controller="Widget"} 4`,
		`controller_runtime_terminal_reconcile_errors_total{controller="Widget"} 1`,
		`controller_runtime_reconcile_panics_total{controller="Widget"} 1`,
		`controller_runtime_reconcile_timeouts_total{controller="Widget"} 1`,
		`controller_runtime_active_workers{controller="Widget"} 0`,
		`workqueue_retries_total{controller="Widget",name="Widget"} 1`,
		`workqueue_queue_duration_seconds_sum{controller="Widget"} 7`,
		`operkit_reconcile_calls_sum{controller="Widget"} 3`,
		`rest_client_requests_total{code="409",host="` + host + `",method="GET"} 3`,
		`operkit_operator_info{operator="widget-operator",version="1.2.3"} 1`,
	} {
		assert.Contains(t, page, "\n"+want+"\n")
	}
}

func TestRequestsThatFail(t *testing.T) {
	t.Parallel()
	m := New("widget-operator", "")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, gone.URL, nil)
	require.NoError(t, err)
	resp, err := m.Transport(http.DefaultTransport).RoundTrip(req) //nolint:bodyclose // there is none
	require.Error(t, err)
	assert.Nil(t, resp)
	assert.Contains(t, m.page(t), `rest_client_requests_total{code="<error>",host="`+req.URL.Host+`",method="PATCH"} 1`)
}

func TestPresent(t *testing.T) {
	t.Parallel()
	m := New("widget-operator", "")
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	engine, err := watch.New(memory.View(), watch.Workers(3), watch.Logger(slog.New(slog.DiscardHandler)))
	require.NoError(t, err)
	m.Engine(engine)
	m.Events(func() uint64 { return 3 })
	page := m.page(t)
	for _, want := range []string{
		`workqueue_depth{controller="all",name="all"} 0`, `controller_runtime_max_concurrent_reconciles{controller="all"} 3`, "operkit_events_total 0",
		"operkit_resources_retried 0", "operkit_kubernetes_events_dropped_total 3", "operkit_backoff_longest_seconds 0",
		`leader_election_master_status{name="widget-operator"} 0`,
	} {
		assert.Contains(t, page, "\n"+want+"\n")
	}
	m.Leads(true)
	assert.Contains(t, m.page(t), `leader_election_master_status{name="widget-operator"} 1`)
	m.Leads(false)
	assert.Contains(t, m.page(t), `leader_election_master_status{name="widget-operator"} 0`)
}

// What Prometheus calls good style, but for the names that others have given.
func TestLint(t *testing.T) {
	t.Parallel()
	m := New("widget-operator", "")
	problems, err := testutil.GatherAndLint(m.registry)
	require.NoError(t, err)
	for _, problem := range problems {
		assert.False(t, strings.HasPrefix(problem.Metric, "operkit_"), "%s: %s", problem.Metric, problem.Text)
	}
}
