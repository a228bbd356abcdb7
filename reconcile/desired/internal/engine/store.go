package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/desired/internal/revision"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// present returns the revision of the present fields of the parent, without a number.
func (p *pass) present() (revision.Revision, error) {
	patch, err := revision.Patch(p.seen.Parent.Object, p.Revisions)
	if err != nil {
		return revision.Revision{}, p.mistake(fmt.Errorf("revisions: %w", err))
	}
	// Others may keep revisions of the same parent, and other paths may have the same values.
	by := strings.Join(append([]string{string(p.seen.Parent.GetUID()), p.Manager.FieldManager()}, p.Revisions...), "/")
	name, err := revision.Name(p.Kind.Group, strings.ToLower(p.Kind.Kind), types.UID(by), patch)
	return revision.Revision{Name: name, Paths: p.Revisions, Patch: patch}, err
}

// begin begins a revision if the fields of the parent have changed.
func (p *pass) begin(ctx context.Context) error {
	present, err := p.present()
	if err != nil || p.history.Latest().Name == present.Name {
		return err
	}
	_, err = p.store(ctx, p.history.Begin(present))
	return err
}

// store makes the history the given one. Earlier revisions are written first: a child that moves is of both revisions,
// or of none, if the process ends between the writes.
func (p *pass) store(ctx context.Context, next revision.History) (changed bool, err error) {
	// The parent isn't their controller: controllers of built-in kinds, such as DaemonSets, take those for their own.
	manager, err := p.env.Manager.With(deploy.RetryFor(0), deploy.OwnedBy(p.seen.Parent))
	if err != nil {
		return false, err
	}
	stored := map[string]bool{}
	for _, one := range next {
		stored[one.Name] = true
		results, err := manager.Apply(ctx, []*unstructured.Unstructured{one.Object(p.key.Namespace, p.membersKey)})
		changed = p.noteRevision(results) || changed
		if err != nil {
			return changed, fmt.Errorf("revision %d: %w", one.Number, err)
		}
	}
	var superfluous []*unstructured.Unstructured
	for _, obj := range p.revisions {
		if !stored[obj.GetName()] && obj.GetDeletionTimestamp() == nil {
			superfluous = append(superfluous, obj)
		}
	}
	p.history = next
	if len(superfluous) == 0 {
		return changed, nil
	}
	results, err := manager.Delete(ctx, superfluous)
	return p.noteRevision(results) || changed, err
}

// noteRevision logs what was done with revisions.
func (p *pass) noteRevision(results deploy.Results) (changed bool) {
	for _, result := range results {
		if !result.Changed() {
			continue
		}
		changed = true
		p.log.Info("revision "+string(result.Action), "revision", result.Ref)
		p.noteWrite(result)
	}
	return changed
}
