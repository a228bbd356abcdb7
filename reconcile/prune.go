package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Prunes names kinds of which objects are deleted once no component renders them any more. It is needed for two.
// Objects of kinds whose deletion takes data along (deploy.Protected), such as claims, are kept otherwise, with an
// event. And a release of the controller that renders none of a kind of an earlier release names it, for resources
// whose operator ended before it could remember the kind in their status. Naming a kind costs a watch of it.
func Prunes(kinds ...schema.GroupVersionKind) Option {
	return func(o *options) { o.prunes = append(o.prunes, kinds...) }
}

// settleKinds prunes where that can be done, and has the outcome tell which kinds the objects are of.
func (s *Session) settleKinds(ctx context.Context, o *Outcome) (err error) {
	if o.deployedAll() {
		o.kinds, err = s.prune(ctx)
		return err
	}
	s.keepKinds(o)
	return nil
}

// keepKinds has the outcome tell the kinds that the objects may be of: those remembered and those of today.
func (s *Session) keepKinds(o *Outcome) {
	o.kinds = s.remembered()
	for _, c := range s.components {
		o.kinds = withKinds(o.kinds, c.kinds()...)
	}
}

// prune deletes what the resource owns, this manager has applied, and no component renders any more (spec:
// reconcile mistake 28). It is called when every component was deployed: only then the objects of all are
// known. It returns the kinds of which there is something.
func (s *Session) prune(ctx context.Context) ([]schema.GroupVersionKind, error) {
	var rendered []schema.GroupVersionKind
	for _, c := range s.components {
		rendered = withKinds(rendered, c.kinds()...)
	}
	var errs []error
	for _, kind := range rendered {
		_, err := s.pruneKind(ctx, kind)
		errs = append(errs, err)
	}
	left := rendered
	for _, kind := range withKinds(s.remembered(), s.prunes...) {
		// Another version of a kind that is rendered holds the same objects.
		if slices.ContainsFunc(rendered, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }) {
			continue
		}
		remaining, err := s.pruneFormer(ctx, kind)
		if remaining || err != nil {
			left = withKinds(left, kind)
		}
		errs = append(errs, s.unlessForbidden(kind, err))
	}
	if err := s.regrownErr(); err != nil {
		errs = append(errs, fmt.Errorf("prune: %w", err))
	}
	return left, errors.Join(errs...)
}

// pruneFormer is pruneKind for a kind of which nothing is rendered any more.
func (s *Session) pruneFormer(ctx context.Context, kind schema.GroupVersionKind) (remaining bool, err error) {
	if served, err := s.watchable(ctx, kind); err != nil || !served {
		return false, err
	}
	return s.pruneKind(ctx, kind)
}

// unlessForbidden: a release that gives a kind up may give up the right to it, too. What is left of the kind stays,
// and stays remembered; that is no failure of what is rendered today.
func (s *Session) unlessForbidden(kind schema.GroupVersionKind, err error) error {
	var forbidden *deploy.ForbiddenError
	if !errors.As(err, &forbidden) {
		return err
	}
	s.logger.Warn("not pruned: the kind isn't rendered any more, and the right to it is gone", "kind", kind.Kind, "error", err)
	return nil
}

// withKinds are kinds and those of more that aren't among them.
func withKinds(kinds []schema.GroupVersionKind, more ...schema.GroupVersionKind) []schema.GroupVersionKind {
	for _, kind := range more {
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// wanted tells whether an enabled component renders what ref names.
func (s *Session) wanted(ref deploy.Ref) bool { return s.claims.wanted(s.identityOf(ref)) }

// generates tells whether an enabled component renders the manifest that obj got its generated name by.
func (s *Session) generates(obj *unstructured.Unstructured) bool {
	if obj.GetGenerateName() == "" {
		return false
	}
	return slices.ContainsFunc(s.components, func(c *Component) bool {
		return !c.disabled && slices.ContainsFunc(c.Objects(), func(manifest *unstructured.Unstructured) bool { return s.manager.MadeFrom(obj, manifest) })
	})
}

// pruneKind tells whether there is something of kind that the resource owns and that is not wanted.
func (s *Session) pruneKind(ctx context.Context, kind schema.GroupVersionKind) (remaining bool, err error) {
	owned, err := s.manager.Owned(ctx, []schema.GroupVersionKind{kind}, deploy.Except(s.wanted))
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
	toRemove := slices.DeleteFunc(slices.Clone(extra), s.fightsFor)
	going, err := s.removeExtra(ctx, toRemove)
	if err != nil {
		return true, fmt.Errorf("prune: %w", err)
	}
	return len(going) > 0 || len(toRemove) < len(extra), nil
}

// removeExtra deletes what no component renders any more, and returns what isn't gone yet.
func (s *Session) removeExtra(ctx context.Context, extra []*unstructured.Unstructured) ([]deploy.Ref, error) {
	if len(extra) == 0 {
		return nil, nil
	}
	results, err := s.remove(ctx, extra)
	for _, result := range results {
		if result.Action == deploy.Removed {
			s.logger.Info("pruned: no component renders it any more", "pruned", result.Ref.String())
			s.regrown.pruned(s, result.Ref)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.manager.Gone(ctx, extra)
}

// keeps reports whether objects of kind stay although no component renders them any more.
func (s *Session) keeps(kind schema.GroupVersionKind) bool {
	return deploy.Protected(kind.GroupKind()) &&
		!slices.ContainsFunc(s.prunes, func(named schema.GroupVersionKind) bool { return named.GroupKind() == kind.GroupKind() })
}

// watchable has a kind watched of which nothing is rendered, unless it isn't served any more.
func (s *Session) watchable(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	var unknown *deploy.KindUnknownError
	err := s.Own(ctx, kind)
	switch {
	case errors.As(err, &unknown):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("prune: %w", err)
	}
	return true, nil
}

// remembered are the kinds of which there may be objects: those that the status names, and what isn't in it yet.
func (s *Session) remembered() []schema.GroupVersionKind {
	return withKinds(s.kindsInStatus(), s.unwritten...)
}

// kindsInStatus are the kinds that the status names.
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
