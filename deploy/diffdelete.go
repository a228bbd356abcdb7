package deploy

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DiffDelete tells for each object what Delete with the same options would make of it, and changes nothing: a deletion is
// shown with all that would go. The cluster is asked, by a deletion that is a dry run. Of what is hidden holds what is said at
// Diff. The error joins those of the differences.
func (m *Manager) DiffDelete(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Differences, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	s.dryRun = true
	results, err := m.Delete(ctx, objects, append(slices.Clone(options), DryRun())...)
	if results == nil {
		return nil, err
	}
	differences := make(Differences, len(results))
	for i, result := range results {
		d := Difference{Ref: result.Ref, Action: result.Action, Err: result.Err}
		if d.Action == Removed {
			live := result.Object
			if onlyMetadata(live) {
				live, d.Err = m.requests(s).Get(ctx, d.Ref)
			}
			if d.Err == nil {
				d.Err = d.show(s, live, nil)
			}
		}
		differences[i] = d
	}
	return differences, differences.Err()
}
