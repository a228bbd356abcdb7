package site

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

// Site controls resources of the kind Site.
type Site struct{}

// Kind implements reconcile.Controller.
func (Site) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Site"}
}

// Setup implements reconcile.Controller: a page, and a server that shows it.
func (Site) Setup(_ context.Context, s *reconcile.Session) error {
	var site struct {
		Spec struct {
			Text string `json:"text"`
		} `json:"spec"`
	}
	if err := s.Into(&site); err != nil {
		return err
	}
	page := s.Add("page", corev1.ConfigMap(s.Name()+"-page", s.Namespace()).WithLabels(labels(s)).
		WithData(map[string]string{"index.html": site.Spec.Text}))
	server := s.Add("server").After(page, reconcile.Ready)
	server.Add("account", corev1.ServiceAccount(s.Name(), s.Namespace()).WithLabels(labels(s)))
	server.Add("deployment", deployment(s))
	return nil
}

func deployment(s *reconcile.Session) *appsv1.DeploymentApplyConfiguration {
	container := corev1.Container().WithName("web").WithImage("nginx:1.27").
		WithVolumeMounts(corev1.VolumeMount().WithName("page").WithMountPath("/usr/share/nginx/html"))
	page := corev1.Volume().WithName("page").WithConfigMap(corev1.ConfigMapVolumeSource().WithName(s.Name() + "-page"))
	return appsv1.Deployment(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(appsv1.DeploymentSpec().
		WithSelector(metav1.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1.PodSpec().
			WithServiceAccountName(s.Name()).WithContainers(container).WithVolumes(page))))
}

func labels(s *reconcile.Session) map[string]string { return map[string]string{"site": s.Name()} }

// AfterVerify implements reconcile.AfterVerifier: it writes an Event when a site is ready in another version than
// before.
func (Site) AfterVerify(_ context.Context, s *reconcile.Session, _ reconcile.Outcome) error {
	if s.CurrentVersion() != s.Version() {
		s.Event(event.Normal, "Published", "by release %s", s.Version())
	}
	return nil
}
