package traps

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	"github.com/operkit/operkit/tools/envtest/audit"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refused: an object with a child's name exists and has another controller. It must not be changed, and the Bundle must
// not be Ready.
func refused(ctx context.Context, s *scene) (answer, error) {
	before, err := s.occupy(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := s.post(ctx); err != nil {
		return answer{}, err
	}
	if _, err := s.awaitNamed(ctx, before.Name); err != nil {
		return answer{}, err
	}
	// An operator that was refused tries again.
	if err := pause(ctx, 5*time.Second); err != nil {
		return answer{}, err
	}
	bundle, err := s.get(ctx)
	if err != nil {
		return answer{}, err
	}
	after, err := s.children.CoreV1().ConfigMaps(plane.Namespace).Get(ctx, before.Name, metav1.GetOptions{})
	if err != nil {
		return answer{}, err
	}
	writes, err := s.writes(ctx, 0)
	if err != nil {
		return answer{}, err
	}
	tried := counted(writes.Filter(func(call audit.Call) bool { return call.Name == before.Name }))
	if after.ResourceVersion != before.ResourceVersion {
		taken := fmt.Sprintf("the ConfigMap was changed by %s: it has %v; %s", tried, after.Data, said(bundle, before.Name))
		return answer{false, taken}, nil
	}
	left := fmt.Sprintf("the ConfigMap is as it was, after %s; %s", tried, said(bundle, before.Name))
	return answer{!isReady(bundle), left}, nil
}

// occupy creates an object with a child's name.
func (s *scene) occupy(ctx context.Context) (*corev1.ConfigMap, error) {
	configMaps, options := s.children.CoreV1().ConfigMaps(plane.Namespace), metav1.CreateOptions{FieldManager: others}
	owner, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "someone-else"}}, options)
	if err != nil {
		return nil, err
	}
	return configMaps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: s.bundle + "-message", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: new(true)},
		}},
		Data: map[string]string{"message": "of someone else"},
	}, options)
}
