package traps

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelled: a user puts a label on the Bundle and its children.
func labelled(ctx context.Context, s *scene) (answer, error) {
	there := func(meta metav1.Object) bool { return meta.GetLabels()["example.com/team"] == "red" }
	return s.kept(ctx, `{"metadata":{"labels":{"example.com/team":"red"}}}`, "the label example.com/team", there)
}

// finalized: another controller puts its finalizer on the Bundle and its children.
func finalized(ctx context.Context, s *scene) (answer, error) {
	there := func(meta metav1.Object) bool { return slices.Contains(meta.GetFinalizers(), "example.com/others") }
	return s.kept(ctx, `{"metadata":{"finalizers":["example.com/others"]}}`, "the finalizer example.com/others", there)
}

// kept changes the metadata of the Bundle and its children as another field manager, and checks that the change stays.
// The operator writes some of these objects afterwards, and others not.
func (s *scene) kept(ctx context.Context, patch, what string, there func(metav1.Object) bool) (answer, error) {
	if err := s.create(ctx); err != nil {
		return answer{}, err
	}
	for _, o := range s.family() {
		if err := s.patch(ctx, o, patch); err != nil {
			return answer{}, err
		}
	}
	writes, err := s.reconciled(ctx)
	if err != nil {
		return answer{}, err
	}
	for _, o := range s.family() {
		live, err := s.metadataOf(ctx, o)
		if err != nil {
			return answer{}, err
		}
		if live == nil || !there(live) {
			gone := fmt.Sprintf("%s isn't on the %s any more after %d reconciles and %s", what, o.what, reconciles, counted(writes))
			return answer{false, gone}, nil
		}
	}
	stays := fmt.Sprintf("%s is on the Bundle and its children after %d reconciles and %s", what, reconciles, counted(writes))
	return answer{true, stays}, nil
}
