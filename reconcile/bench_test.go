package reconcile

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
)

// What a reconcile of a resource costs that is as it should be: 10 components of 10 objects.
func BenchmarkSettled(b *testing.B) {
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(widget()))
	if err != nil {
		b.Fatal(err)
	}
	calls := &recorder{memory: memory}
	r, err := New(adding(func(s *Session) {
		var before *Component
		for c := range 10 {
			component := s.Add(fmt.Sprint("c", c))
			for o := range 10 {
				component.Add("", configMap(fmt.Sprintf("c%d-%d", c, o)))
			}
			if before != nil {
				component.After(before)
			}
			before = component
		}
	}), must(deploy.NewManager(calls)), Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Reconcile(b.Context(), widgetRequest); err != nil {
		b.Fatal(err)
	}
	calls.forget()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Reconcile(b.Context(), widgetRequest); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(calls.made())), "calls")
}
