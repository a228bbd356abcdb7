package traps

import (
	"context"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// terminating: somebody deletes a child that has a finalizer of somebody else. Until the child is gone, the Bundle must
// not be Ready, and has to name the child; then the rollout has to continue.
func terminating(ctx context.Context, s *scene) (answer, error) {
	if err := s.create(ctx); err != nil {
		return answer{}, err
	}
	message := s.descendants()[1]
	if err := s.patch(ctx, message, `{"metadata":{"finalizers":["example.com/others"]}}`); err != nil {
		return answer{}, err
	}
	configMaps := s.children.CoreV1().ConfigMaps(plane.Namespace)
	if err := configMaps.Delete(ctx, message.name, metav1.DeleteOptions{}); err != nil {
		return answer{}, err
	}
	bundle, err := s.awaitNamed(ctx, message.name)
	if err != nil {
		return answer{}, err
	}
	seen := "while the ConfigMap is being deleted " + said(bundle, message.name)
	stuck, err := s.metadataOf(ctx, message)
	if err != nil {
		return answer{}, err
	}
	if stuck == nil || stuck.DeletionTimestamp == nil || len(stuck.Finalizers) == 0 {
		return answer{false, seen + "; it doesn't wait: the ConfigMap is gone although somebody else's finalizer was on it"}, nil
	}
	if err := s.patch(ctx, message, `{"metadata":{"finalizers":null}}`); err != nil {
		return answer{}, err
	}
	if err := s.awaitBack(ctx, message, stuck.UID, seen); err != nil {
		return answer{}, err
	}
	seen += "; with the finalizer off the ConfigMap is back and the Bundle Ready"
	return answer{names(bundle, message.name) && !isReady(bundle), seen}, nil
}

// awaitBack waits until an object with another uid exists in place of the old one, and the Bundle is Ready.
func (s *scene) awaitBack(ctx context.Context, o object, uid types.UID, seen string) error {
	return await(ctx, enough, func(ctx context.Context) (bool, error) {
		live, err := s.metadataOf(ctx, o)
		if err != nil || live == nil || live.UID == uid {
			return false, err
		}
		bundle, err := s.get(ctx)
		return err == nil && isReady(bundle), err
	}, func() string {
		return seen + "; with the finalizer off the ConfigMap isn't back, or the Bundle not Ready"
	})
}
