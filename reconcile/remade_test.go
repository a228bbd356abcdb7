package reconcile

import (
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What finishes, is deleted then, and is rendered still is made anew for ever: that is said once.
func TestMadeAnewAgainAndAgain(t *testing.T) {
	t.Parallel()
	jobs := schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	pods := schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	tasks := schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Task"}
	const complete, succeeded = `{"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, `{"status":{"phase":"Succeeded"}}`
	for reason, row := range map[string]struct {
		kind schema.GroupVersionKind
		spec map[string]any
		// status is what it says of itself before it is deleted; empty if nobody sees it.
		status string
		by     deploy.Strategy
		want   string
	}{
		"a Job with a TTL":                      {jobs, map[string]any{"ttlSecondsAfterFinished": int64(5)}, complete, "", "(ttlSecondsAfterFinished is 5)"},
		"whose end is unseen":                   {jobs, map[string]any{"ttlSecondsAfterFinished": int64(0)}, "", "", "(ttlSecondsAfterFinished is 0)"},
		"that is only created":                  {jobs, map[string]any{"ttlSecondsAfterFinished": int64(5)}, complete, deploy.CreateOnly, "(ttlSecondsAfterFinished is 5)"},
		"a Job that somebody deletes each time": {jobs, map[string]any{}, complete, "", "after it had finished:"},
		"a Pod that has finished":               {pods, map[string]any{}, succeeded, "", "after it had finished:"},
		"another kind with a TTL":               {tasks, map[string]any{"ttlSecondsAfterFinished": int64(7)}, "", "", "(ttlSecondsAfterFinished is 7)"},
		"a Job that is deleted at work":         {jobs, map[string]any{}, "", "", ""},
		"what doesn't finish":                   {configMaps, nil, "", "", ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w, o := newWorld(t), &told{}
			ref := deploy.Ref{Kind: row.kind, Namespace: "shop", Name: "once"}
			r := w.reconciler(adding(func(s *Session) {
				obj := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "once"}}}
				obj.SetGroupVersionKind(row.kind)
				if row.spec != nil {
					obj.Object["spec"] = row.spec
				}
				s.Add("work").Add("once", obj, By(row.by))
			}), Events(o))
			var warnings []string
			for i := range 6 {
				w.calm(r)
				if row.status != "" {
					w.mergeStatus(ref, row.status)
				}
				w.calm(r)
				w.delete(ref)
				for _, text := range o.texts() {
					if strings.HasPrefix(text, "Warning") {
						assert.Equal(t, memory.CreationLimit, i)
						warnings = append(warnings, text)
					}
				}
			}
			if row.want == "" {
				assert.Empty(t, warnings)
				return
			}
			require.Len(t, warnings, 1, "it is said once")
			assert.Contains(t, warnings[0], "Warning MadeAnew: component work: "+row.kind.Kind+" shop/once: was made anew 2 times")
			assert.Contains(t, warnings[0], row.want)
			assert.Contains(t, warnings[0], "Finished()")
			assert.Equal(t, 1, strings.Count(w.logs.String(), "made anew again and again"), "and once in the log")
		})
	}
}
