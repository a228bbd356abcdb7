package traps

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/tools/bench/internal/plane"
	"github.com/operkit/operkit/tools/envtest/audit"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// injected: a mutating webhook adds a container to the Deployment when it is written, which must not cause further
// writes. Then the webhook is removed, and the operator must leave the container in place.
func injected(ctx context.Context, s *scene) (answer, error) {
	hook, err := serveWebhook()
	if err != nil {
		return answer{}, err
	}
	defer hook.stop()
	if err := s.register(ctx, hook); err != nil {
		return answer{}, err
	}
	surplus, err := s.admitted(ctx)
	// Also after a failure: as long as the webhook is registered but not served, its objects can't be written.
	if left := s.unregister(context.WithoutCancel(ctx)); err != nil || left != nil {
		return answer{}, errors.Join(err, left)
	}
	mark, err := s.mark(ctx)
	if err != nil {
		return answer{}, err
	}
	if err := s.resize(ctx); err != nil {
		return answer{}, err
	}
	changed, err := s.writes(ctx, mark)
	if err != nil {
		return answer{}, err
	}
	deployment, err := s.deployment(ctx)
	if err != nil {
		return answer{}, err
	}
	_, there := container(deployment, sidecar)
	return answer{there && len(surplus) == 0 && len(changed.Of("deployments.apps")) == 1, fmt.Sprintf(
		"in %d reconciles, for a ConfigMap that did change, beside that one %s; then, without the webhook, "+
			"a variable was changed by %s: the containers are %v",
		reconciles, counted(surplus), counted(changed.Of("deployments.apps")), containers(deployment))}, nil
}

// admitted creates the Bundle and has it reconciled while the webhook is registered. It returns the unnecessary writes.
func (s *scene) admitted(ctx context.Context) (audit.Calls, error) {
	if err := s.create(ctx); err != nil {
		return nil, err
	}
	mark, err := s.mark(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.reconcile(ctx, reconciles); err != nil {
		return nil, err
	}
	return s.surplus(ctx, mark)
}

// register registers the webhook for the Deployment of the Bundle, and waits until the API server calls it.
func (s *scene) register(ctx context.Context, hook *webhook) error {
	none, fail := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.bundle},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "sidecar.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &hook.url, CABundle: hook.authority},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"},
				},
			}},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/instance": s.bundle}},
			SideEffects:    &none, FailurePolicy: &fail, AdmissionReviewVersions: []string{"v1"},
		}},
	}
	_, err := s.children.AdmissionregistrationV1().MutatingWebhookConfigurations().
		Create(ctx, configuration, metav1.CreateOptions{FieldManager: others})
	if err != nil {
		return err
	}
	return s.awaitWebhook(ctx, true)
}

// unregister removes the registration, and waits until the API server doesn't call the webhook any more.
func (s *scene) unregister(ctx context.Context) error {
	err := s.children.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(ctx, s.bundle, metav1.DeleteOptions{})
	if err != nil {
		return err
	}
	return s.awaitWebhook(ctx, false)
}

// awaitWebhook waits until the API server calls the webhook (asked) or doesn't call it any more; a change takes effect
// after a while.
func (s *scene) awaitWebhook(ctx context.Context, asked bool) error {
	labels := map[string]string{"app.kubernetes.io/instance": s.bundle}
	probe := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "probe-" + s.bundle, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "registry.example/probe:1.0"}}},
			},
		},
	}
	options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	for ending := time.Now().Add(enough); ; {
		made, err := s.children.AppsV1().Deployments(plane.Namespace).Create(ctx, probe, options)
		if err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
		if _, there := container(made, sidecar); there == asked {
			return nil
		}
		if time.Now().After(ending) {
			return fmt.Errorf("webhook: the API server hasn't learnt of it for %s", enough)
		}
		if err := pause(ctx, look); err != nil {
			return err
		}
	}
}
