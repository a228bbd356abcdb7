package traps

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// replicas is the number of replicas to which the Deployment is scaled.
const replicas = 3

// scaled: the Deployment has an autoscaler, and is scaled.
func scaled(ctx context.Context, s *scene) (answer, error) {
	if err := s.create(ctx); err != nil {
		return answer{}, err
	}
	before, err := s.deployment(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := s.autoscale(ctx); err != nil {
		return answer{}, err
	}
	writes, err := s.reconciled(ctx)
	if err != nil {
		return answer{}, err
	}
	after, err := s.deployment(ctx)
	if err != nil {
		return answer{}, err
	}
	// If the operator reset the replicas and they were set again, there would be more changes than the two of the
	// replicas and the size.
	changes := after.Generation - before.Generation
	return answer{*after.Spec.Replicas == replicas && changes == 2, fmt.Sprintf(
		"scaled to %d, with a HorizontalPodAutoscaler; after %d reconciles, the last of which changed a variable, "+
			"spec.replicas is %d; the spec has changed %d times, that by the scaler included; the operator has made %s of it",
		replicas, reconciles, *after.Spec.Replicas, changes, counted(writes.Of("deployments.apps")))}, nil
}

// autoscale creates an autoscaler for the Deployment and writes the scale in its place, since the control plane has no
// metrics for the autoscaler.
func (s *scene) autoscale(ctx context.Context) error {
	autoscaler := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: s.bundle},
		Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: s.bundle},
			MinReplicas:    new(int32(replicas - 1)), MaxReplicas: replicas + 1,
		},
	}
	create := metav1.CreateOptions{FieldManager: others}
	_, err := s.children.AutoscalingV2().HorizontalPodAutoscalers(plane.Namespace).Create(ctx, autoscaler, create)
	if err != nil {
		return err
	}
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{Name: s.bundle, Namespace: plane.Namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: replicas},
	}
	update := metav1.UpdateOptions{FieldManager: "kube-controller-manager"}
	_, err = s.children.AppsV1().Deployments(plane.Namespace).UpdateScale(ctx, s.bundle, scale, update)
	return err
}
