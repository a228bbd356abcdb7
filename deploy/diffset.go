package deploy

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DiffSet is Diff for an ApplySet: what ApplySet with the same arguments would make of the objects,
// and behind them of the members that aren't among them, each with the Reason. Those that would be
// deleted are shown as deletions. As with ApplySet, members are left out unless all objects could be
// applied. It costs a read of the parent and the lists of members on top of Diff.
func (m *Manager) DiffSet(ctx context.Context, set ApplySet, objects []*unstructured.Unstructured, options ...Option) (Differences, error) {
	r, err := m.newSetRun(ctx, set, objects, options)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil {
		return nil, err
	}
	seen := &witness{guard: r.checkMember}
	differences, err := m.diff(ctx, r.settings, r.objects, seen)
	if err = errors.Join(err, differences.Err()); err != nil || r.parent == nil {
		return differences, err
	}
	kept := kept{}
	for _, obj := range seen.all() {
		kept.add(obj)
	}
	for i, obj := range r.objects {
		if obj.GetName() == "" {
			live, err := r.existing(ctx, differences[i].Ref, obj)
			if err != nil {
				return differences, err
			}
			kept.add(live)
		}
	}
	found, err := r.candidates(ctx, kept)
	if err != nil {
		return differences, err
	}
	for _, member := range found {
		d := Difference{Ref: member.Ref, Action: member.Action, Reason: member.Reason, Err: member.Err}
		if d.Action == Removed {
			d.Err = d.show(r.settings, member.Object, nil)
		}
		differences = append(differences, d)
	}
	return differences, differences.Err()
}
