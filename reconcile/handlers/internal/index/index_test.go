package index

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

type pod struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Claims []string `json:"claims"`
	} `json:"spec"`
}

// users returns the name of a Pod by the claims that it uses. It fails for a claim "error" or "panic".
func users(p *pod) (map[string]string, error) {
	values := map[string]string{}
	for _, claim := range p.Spec.Claims {
		switch claim {
		case "error":
			return nil, errors.New("no such claim")
		case "panic":
			panic("boom")
		}
		values[claim] = p.Name
	}
	return values, nil
}

func podOf(name string, uid types.UID, claims ...any) *unstructured.Unstructured {
	p := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod", "spec": map[string]any{"claims": claims}}}
	p.SetNamespace("shop")
	p.SetName(name)
	p.SetUID(uid)
	return p
}

func labelled(p *unstructured.Unstructured, labels map[string]string) *unstructured.Unstructured {
	p.SetLabels(labels)
	return p
}

func TestObserve(t *testing.T) {
	t.Parallel()
	inUse := selection.Filter{Labels: map[string]selection.Check{"off": selection.Absent}}
	type step struct {
		event deploy.EventType
		pod   *unstructured.Unstructured
	}
	first := step{deploy.Added, podOf("a", "1", "data", "logs")}
	for _, row := range []struct {
		reason string
		steps  []step
		drop   bool
		want   map[string][]string
		logged string
		times  int
	}{
		{reason: "handlers 63: an object is added", steps: []step{first}, want: map[string][]string{"data": {"a"}, "logs": {"a"}}},
		{reason: "handlers 63: each event replaces its keys", steps: []step{first, {deploy.Modified, podOf("a", "1", "logs", "new")}},
			want: map[string][]string{"logs": {"a"}, "new": {"a"}}},
		{reason: "handlers 63: it is deleted", steps: []step{first, {deploy.Deleted, podOf("a", "1", "data")}}},
		{reason: "handlers 63: it leaves the view", steps: []step{first, {deploy.Left, podOf("a", "1", "data")}}},
		{reason: "handlers 63: it comes back", steps: []step{first, {deploy.Left, podOf("a", "1", "data")}, {deploy.Added, podOf("a", "1", "new")}},
			want: map[string][]string{"new": {"a"}}},
		{reason: "handlers 63: the filter doesn't match any more", steps: []step{first, {deploy.Modified, labelled(podOf("a", "1", "data"), map[string]string{"off": ""})}}},
		{reason: "handlers 63: neither does the function of the filter", steps: []step{first, {deploy.Modified, labelled(podOf("a", "1", "data"), map[string]string{"skip": ""})}}},
		{reason: "handlers 63: it has no values any more", steps: []step{first, {deploy.Modified, podOf("a", "1")}}},
		{reason: "handlers 65: an error keeps the last values, and is logged once",
			steps: []step{first, {deploy.Modified, podOf("a", "1", "error")}, {deploy.Modified, podOf("a", "1", "error")}},
			want:  map[string][]string{"data": {"a"}, "logs": {"a"}}, logged: `level=WARN msg="the function of an index failed for an object" index=users object="Pod shop/a" kept=true err="no such claim"`, times: 1},
		{reason: "handlers 65: another error is logged, too, and so is a panic",
			steps:  []step{first, {deploy.Modified, podOf("a", "1", "error")}, {deploy.Modified, podOf("a", "1", "panic")}, {deploy.Modified, podOf("a", "1", "error")}},
			want:   map[string][]string{"data": {"a"}, "logs": {"a"}},
			logged: "kept=true", times: 3},
		{reason: "handlers 65: an object that the type can't hold is an error", steps: []step{first, {deploy.Modified, podOf("a", "1", int64(3))}},
			want: map[string][]string{"data": {"a"}, "logs": {"a"}}, logged: "Pod shop/a: spec.claims[0]: index.pod can't hold a number there", times: 1},
		{reason: "handlers 65: after a success, the same error is logged again",
			steps: []step{{deploy.Added, podOf("a", "1", "error")}, {deploy.Modified, podOf("a", "1", "data")}, {deploy.Modified, podOf("a", "1", "error")}},
			want:  map[string][]string{"data": {"a"}}, logged: "no such claim", times: 2},
		{reason: "handlers 65: the values of an object with another uid don't stay", steps: []step{first, {deploy.Modified, podOf("a", "2", "error")}}, logged: "kept=false", times: 1},
		{reason: "handlers 65: nor do any if that is asked for", drop: true, steps: []step{first, {deploy.Modified, podOf("a", "1", "error")}}, logged: "kept=false", times: 1},
		{reason: "handlers 65: a deleted object leaves no trace of its error",
			steps: []step{{deploy.Added, podOf("a", "1", "error")}, {deploy.Deleted, podOf("a", "1", "error")}}, logged: "no such claim", times: 1},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			var log testlog.Text
			index := New(Declaration[pod, string, string]{Name: "users", Kind: pods, Filter: inUse, Values: users, DropFailed: row.drop,
				When: func(p *pod) bool { _, skip := p.Labels["skip"]; return !skip }})
			require.NoError(t, index.Check())
			source := index.Source(slog.New(slog.NewTextHandler(&log, nil)))
			assert.Equal(t, pods, source.Kind)
			for _, s := range row.steps {
				source.Index(deploy.Event{Type: s.event, Old: s.pod, New: s.pod})
			}
			got := map[string][]string{}
			for _, key := range index.Keys() {
				got[key] = index.Get(key)
			}
			if row.want == nil {
				row.want = map[string][]string{}
				assert.Empty(t, index.objects)
			}
			assert.Equal(t, row.want, got)
			assert.Equal(t, row.times, log.Count(row.logged)*min(1, len(row.logged)), log.String())
			if last := row.steps[len(row.steps)-1]; last.event == deploy.Deleted {
				assert.Empty(t, index.faults)
			}
		})
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		err    error
		want   []string
	}{
		{"handlers 66: no function and no kind", New(Declaration[pod, string, int]{Name: "users"}).Check(),
			[]string{`index "users": kind "/, Kind=": needs a version and a kind`, "nil function: pass one"}},
		{"handlers 66: a filter and a type that can't be used", New(Declaration[struct{ c chan int }, string, int]{
			Name: "users", Kind: pods, Values: func(*struct{ c chan int }) (map[string]int, error) { return nil, nil },
			Filter: selection.Filter{Old: selection.Present, Field: []string{"spec"}},
		}).Check(), []string{"only handlers of updates have an old and a new value", "field c: isn't exported"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			for _, want := range row.want {
				assert.ErrorContains(t, row.err, want)
			}
		})
	}
}
