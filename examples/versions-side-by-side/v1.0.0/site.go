package site

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
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
	page := s.Add("page", corev1ac.ConfigMap(s.Name()+"-page", s.Namespace()).WithLabels(labels(s)).
		WithData(map[string]string{"index.html": site.Spec.Text}))
	server := s.Add("server").After(page, reconcile.Ready)
	server.Add("account", corev1ac.ServiceAccount(s.Name(), s.Namespace()).WithLabels(labels(s)))
	server.Add("deployment", deployment(s))
	return nil
}

func deployment(s *reconcile.Session) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().WithName("web").WithImage("nginx:1.27").
		WithVolumeMounts(corev1ac.VolumeMount().WithName("page").WithMountPath("/usr/share/nginx/html"))
	page := corev1ac.Volume().WithName("page").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(s.Name() + "-page"))
	return appsv1ac.Deployment(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1ac.PodSpec().
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
