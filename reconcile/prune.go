package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// settleKinds prunes if every component was deployed, and records the kinds of the objects in the outcome.
func (s *Session) settleKinds(ctx context.Context, o *Outcome) (err error) {
	if o.Deployed() {
		o.kinds, err = s.prune(ctx)
		return err
	}
	s.keepKinds(o)
	return nil
}

// keepKinds records the kinds of which there may be objects: the remembered kinds, and the kinds that are rendered now.
func (s *Session) keepKinds(o *Outcome) { o.kinds = s.andRendered(s.remembered()...) }

// andRendered returns kinds, and the kinds that components render now.
func (s *Session) andRendered(kinds ...schema.GroupVersionKind) []schema.GroupVersionKind {
	for _, c := range s.components {
		kinds = withKinds(kinds, c.kinds()...)
	}
	return kinds
}

// prune deletes objects that the resource owns and this manager has applied, but that no component renders any more. It
// is called when every component was deployed: only then all rendered objects are known. It returns the kinds of which
// there may be objects.
func (s *Session) prune(ctx context.Context) ([]schema.GroupVersionKind, error) {
	rendered := s.andRendered()
	var errs []error
	for _, kind := range rendered {
		_, err := s.pruneKind(ctx, kind)
		errs = append(errs, err)
	}
	left := rendered
	for _, kind := range withKinds(s.remembered(), s.reconciler.options.prunes...) {
		// Another version of a rendered kind has the same objects.
		if slices.ContainsFunc(rendered, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }) {
			continue
		}
		remaining, err := s.pruneFormer(ctx, kind)
		if remaining || err != nil {
			left = withKinds(left, kind)
		}
		errs = append(errs, s.unlessForbidden(kind, err))
	}
	if err := s.fightsErr(); err != nil {
		errs = append(errs, fmt.Errorf("prune: %w", err))
	}
	return left, errors.Join(errs...)
}

// pruneFormer prunes a kind when no object of it is rendered any more.
func (s *Session) pruneFormer(ctx context.Context, kind schema.GroupVersionKind) (remaining bool, err error) {
	if served, err := s.watchable(ctx, kind); err != nil || !served {
		return false, err
	}
	return s.pruneKind(ctx, kind)
}

// unlessForbidden returns err, unless err is about a missing right to a kind that isn't rendered any more. It only logs
// such an error: a release that no longer renders a kind may no longer have the right to it. Objects of that kind stay,
// and the kind stays remembered.
func (s *Session) unlessForbidden(kind schema.GroupVersionKind, err error) error {
	if !failure.Is[*deploy.ForbiddenError](err) {
		return err
	}
	s.logger.Warn("not pruned: the kind isn't rendered any more, and the operator isn't allowed to access it", "kind", kind.Kind, "error", err)
	return nil
}

// withKinds returns kinds, and the kinds of more that kinds doesn't contain.
func withKinds(kinds []schema.GroupVersionKind, more ...schema.GroupVersionKind) []schema.GroupVersionKind {
	for _, kind := range more {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// wanted reports whether an enabled component renders the object of ref.
func (s *Session) wanted(ref deploy.Ref) bool { return s.index.wanted(s.identityOf(ref)) }

// generates reports whether an enabled component renders the manifest from which obj got its generated name.
func (s *Session) generates(obj *unstructured.Unstructured) bool {
	if obj.GetGenerateName() == "" {
		return false
	}
	return slices.ContainsFunc(s.components, func(c *Component) bool {
		return !c.disabled && slices.ContainsFunc(c.Objects(), func(manifest *unstructured.Unstructured) bool { return s.manager.MadeFrom(obj, manifest) })
	})
}

// pruneKind reports whether there are objects of kind that the resource owns and that no component renders.
func (s *Session) pruneKind(ctx context.Context, kind schema.GroupVersionKind) (remaining bool, err error) {
	owned, err := s.manager.Owned(ctx, []schema.GroupVersionKind{kind}, s.wanted)
	if err != nil {
		return false, fmt.Errorf("prune: %w", err)
	}
	extra := slices.DeleteFunc(owned, s.generates)
	if len(extra) == 0 {
		return false, nil
	}
	if s.keeps(kind) {
		for _, obj := range extra {
			s.unpruned = append(s.unpruned, obj.GetKind()+" "+obj.GetName())
		}
		return true, nil
	}
	fights := s.fights()
	toRemove := slices.DeleteFunc(slices.Clone(extra), func(obj *unstructured.Unstructured) bool { return fights[deploy.RefOf(obj)].Rests })
	going, err := s.removeExtra(ctx, toRemove)
	if err != nil {
		return true, fmt.Errorf("prune: %w", err)
	}
	return len(going) > 0 || len(toRemove) < len(extra), nil
}

// removeExtra deletes objects that no component renders any more, and returns the objects that aren't gone yet.
func (s *Session) removeExtra(ctx context.Context, extra []*unstructured.Unstructured) ([]deploy.Ref, error) {
	results, err := s.remove(ctx, extra)
	for _, result := range results {
		if result.Action == deploy.Removed {
			s.logger.Debug("pruned: no component renders it any more", "pruned", result.Ref.String())
			s.update(func(m *memory.Resource) {
				m.Pruned(s.resource.GetGeneration(), result.Ref, s.reconciler.now())
			})
		}
	}
	if err != nil {
		return nil, err
	}
	return s.manager.Gone(ctx, extra)
}

// keeps reports whether objects of kind aren't pruned because they hold data.
func (s *Session) keeps(kind schema.GroupVersionKind) bool {
	return deploy.Protected(kind.GroupKind()) &&
		!slices.ContainsFunc(s.reconciler.options.prunes, func(named schema.GroupVersionKind) bool { return named.GroupKind() == kind.GroupKind() })
}

// watchable watches a kind that isn't rendered. It returns false if the kind isn't served any more.
func (s *Session) watchable(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	err := s.Own(ctx, kind)
	switch {
	case isUnknownKind(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("prune: %w", err)
	}
	return true, nil
}

// remembered returns the kinds of which there may be objects: the kinds in the status, and kinds that the status
// doesn't have yet.
func (s *Session) remembered() []schema.GroupVersionKind {
	return withKinds(s.kindsInStatus(), s.unwritten...)
}

// kindsInStatus returns the kinds in the status.
func (s *Session) kindsInStatus() []schema.GroupVersionKind {
	names, _, err := unstructured.NestedSlice(s.resource.Object, "status", "componentStatus", "kinds")
	if err != nil {
		return nil
	}
	var kinds []schema.GroupVersionKind
	for _, name := range names {
		text, _ := name.(string)
		at := strings.LastIndexByte(text, '/')
		if at < 0 {
			continue
		}
		if version, err := schema.ParseGroupVersion(text[:at]); err == nil && version.Version != "" && text[at+1:] != "" {
			kinds = append(kinds, version.WithKind(text[at+1:]))
		}
	}
	return kinds
}

func kindNames(kinds []schema.GroupVersionKind) []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.GroupVersion().String() + "/" + kind.Kind
	}
	return names
}

// Remove deletes objects that the resource owns and returns nil when all are gone; until then it returns a
// request.Precondition that names the remaining objects. Objects with another owner are left alone, and Remove doesn't
// wait for them. It is for Finalize.
func (s *Session) Remove(ctx context.Context, objects ...any) error {
	plain := make([]*unstructured.Unstructured, 0, len(objects))
	for _, value := range objects {
		obj, err := toObject(value)
		if err != nil {
			return err
		}
		plain = append(plain, obj)
	}
	_, err := s.removeAll(ctx, plain)
	return err
}

// removeAll deletes the given objects that the resource owns, and waits until they are gone.
func (s *Session) removeAll(ctx context.Context, objects []*unstructured.Unstructured) (deploy.Results, error) {
	results, err := s.remove(ctx, objects)
	if err != nil {
		return results, err
	}
	remaining, err := s.manager.Gone(ctx, objects)
	if err != nil || len(remaining) == 0 {
		return results, err
	}
	names := make([]string, len(remaining))
	for i, ref := range remaining {
		names[i] = ref.String()
	}
	return results, request.Precondition("waiting until %s is gone", strings.Join(names, ", "))
}

// remove deletes the given objects that the resource owns. An object whose kind isn't served, or that has another
// owner, is skipped without an error.
func (s *Session) remove(ctx context.Context, objects []*unstructured.Unstructured) (deploy.Results, error) {
	var kinds []schema.GroupVersionKind
	for _, obj := range objects {
		kinds = withKinds(kinds, obj.GroupVersionKind())
	}
	for _, kind := range kinds {
		if err := s.Own(ctx, kind); err != nil && !isUnknownKind(err) {
			return nil, err
		}
	}
	results, err := s.manager.Delete(ctx, objects)
	s.removing.Lock()
	s.removed = append(s.removed, results...)
	s.removing.Unlock()
	if len(results) == 0 {
		return results, err
	}
	var errs []error
	for _, result := range results {
		if !failure.Is[*deploy.OwnedError](result.Err) {
			errs = append(errs, result.Err)
		}
	}
	return results, errors.Join(errs...)
}

// finalizes reports whether resources carry the finalizer.
func (r *Reconciler) finalizes() bool { return r.finalizer != nil || r.options.ownAnywhere }

// recordKinds writes kinds into the status before objects of them are applied. With OwnAnywhere only the status records
// the kinds of which the resource may have objects.
func (s *Session) recordKinds(ctx context.Context, kinds []schema.GroupVersionKind) error {
	if !s.reconciler.options.ownAnywhere || s.dryRun {
		return nil
	}
	s.noting.Lock()
	defer s.noting.Unlock()
	known := withKinds(s.kindsInStatus(), s.noted...)
	all := withKinds(known, kinds...)
	if len(all) == len(known) {
		return nil
	}
	names := kindNames(all)
	slices.Sort(names)
	result, err := lifecycle.Fitting(s.logger, func(step int) (deploy.Result, error) {
		return s.manager.SetStatus(ctx, deploy.RefOf(s.resource), func(current *unstructured.Unstructured) (map[string]any, error) {
			next := current.DeepCopy()
			if current.GetUID() != s.resource.GetUID() {
				return nil, fmt.Errorf("%s was replaced by another object of the same name", deploy.RefOf(s.resource))
			}
			err := unstructured.SetNestedStringSlice(next.Object, names, "status", "componentStatus", "kinds")
			content, _ := next.Object["status"].(map[string]any)
			return lifecycle.Shortened(content, nil, step), err
		})
	})
	if err != nil {
		return fmt.Errorf("remember the kinds of its objects: %w", err)
	}
	if result.Object != nil {
		if kept, _, _ := unstructured.NestedStringSlice(result.Object.Object, "status", "componentStatus", "kinds"); !slices.Equal(kept, names) {
			return mistake(fmt.Errorf("remember the kinds of its objects: the CustomResourceDefinition of %s drops "+
				"status.componentStatus.kinds: add it to the schema (status.Fields has it), otherwise objects of OwnAnywhere would never be deleted", s.Kind().Kind))
		}
	}
	s.noted = all
	return nil
}

// removeTracked deletes the objects that the resource owns by label, and waits until they are gone. Objects that
// Finalize has rolled out are deleted last, and removeTracked doesn't wait for them: waiting would take another
// reconcile, which would run Finalize and create these objects again.
func (r *Reconciler) removeTracked(ctx context.Context, s *Session) error {
	if !r.options.ownAnywhere {
		return nil
	}
	var kinds []schema.GroupVersionKind
	for _, kind := range s.andRendered(withKinds(s.remembered(), r.options.prunes...)...) {
		served, err := s.watchable(ctx, kind)
		if err != nil {
			return err
		}
		if served {
			kinds = append(kinds, kind)
		}
	}
	tracked, err := s.manager.Tracked(ctx, kinds)
	if err != nil || len(tracked) == 0 {
		return err
	}
	ordinary := slices.DeleteFunc(slices.Clone(tracked), s.renders)
	if _, err := s.removeAll(ctx, ordinary); err != nil {
		return err
	}
	_, err = s.remove(ctx, slices.DeleteFunc(tracked, func(obj *unstructured.Unstructured) bool { return !s.renders(obj) }))
	return err
}

// renders reports whether an enabled component renders obj, with its name or with a name that the cluster generates.
func (s *Session) renders(obj *unstructured.Unstructured) bool {
	return s.wanted(deploy.RefOf(obj)) || s.generates(obj)
}
