package site

import (
	"context"
	"strings"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
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

// Upgrade implements reconcile.Upgrader. Releases before 1.0.0 kept pages where this one doesn't find them.
func (Site) Upgrade(_ context.Context, _ *reconcile.Session, from, _ string) error {
	if strings.HasPrefix(from, "0.") {
		return request.Configuration("only 1.0.0 can take over what %s has made: say that version first", from)
	}
	return nil
}

// Setup implements reconcile.Controller: content, a server that shows it, and a Service called door. In 1.0.0 the
// content was called page, and there was no door.
func (Site) Setup(_ context.Context, s *reconcile.Session) error {
	var site struct {
		Spec struct {
			Text string `json:"text"`
			Port int32  `json:"port"`
		} `json:"spec"`
	}
	site.Spec.Port = 80
	if err := s.Into(&site); err != nil {
		return err
	}
	content := s.Add("content", corev1ac.ConfigMap(s.Name()+"-content", s.Namespace()).WithLabels(labels(s)).
		WithData(map[string]string{"index.html": site.Spec.Text}))
	server := s.Add("server").After(content, reconcile.Ready)
	server.Add("account", corev1ac.ServiceAccount(s.Name(), s.Namespace()).WithLabels(labels(s)))
	server.Add("deployment", deployment(s))
	s.Add("door", corev1ac.Service(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(corev1ac.ServiceSpec().
		WithSelector(labels(s)).
		WithPorts(corev1ac.ServicePort().WithPort(site.Spec.Port).WithTargetPort(intstr.FromString("http"))))).After(server, reconcile.Ready)
	return nil
}

func deployment(s *reconcile.Session) *appsv1ac.DeploymentApplyConfiguration {
	container := corev1ac.Container().WithName("web").WithImage("nginx:1.29").
		WithPorts(corev1ac.ContainerPort().WithName("http").WithContainerPort(80)).
		WithVolumeMounts(corev1ac.VolumeMount().WithName("content").WithMountPath("/usr/share/nginx/html"))
	content := corev1ac.Volume().WithName("content").WithConfigMap(corev1ac.ConfigMapVolumeSource().WithName(s.Name() + "-content"))
	return appsv1ac.Deployment(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(appsv1ac.DeploymentSpec().
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1ac.PodSpec().
			WithServiceAccountName(s.Name()).WithContainers(container).WithVolumes(content))))
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
