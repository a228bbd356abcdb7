package site

import (
	"context"
	"strings"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
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
	content := s.Add("content", corev1.ConfigMap(s.Name()+"-content", s.Namespace()).WithLabels(labels(s)).
		WithData(map[string]string{"index.html": site.Spec.Text}))
	server := s.Add("server").After(content, reconcile.Ready)
	server.Add("account", corev1.ServiceAccount(s.Name(), s.Namespace()).WithLabels(labels(s)))
	server.Add("deployment", deployment(s))
	s.Add("door", corev1.Service(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(corev1.ServiceSpec().
		WithSelector(labels(s)).
		WithPorts(corev1.ServicePort().WithPort(site.Spec.Port).WithTargetPort(intstr.FromString("http"))))).After(server, reconcile.Ready)
	return nil
}

func deployment(s *reconcile.Session) *appsv1.DeploymentApplyConfiguration {
	container := corev1.Container().WithName("web").WithImage("nginx:1.29").
		WithPorts(corev1.ContainerPort().WithName("http").WithContainerPort(80)).
		WithVolumeMounts(corev1.VolumeMount().WithName("content").WithMountPath("/usr/share/nginx/html"))
	content := corev1.Volume().WithName("content").WithConfigMap(corev1.ConfigMapVolumeSource().WithName(s.Name() + "-content"))
	return appsv1.Deployment(s.Name(), s.Namespace()).WithLabels(labels(s)).WithSpec(appsv1.DeploymentSpec().
		WithSelector(metav1.LabelSelector().WithMatchLabels(labels(s))).
		WithTemplate(corev1.PodTemplateSpec().WithLabels(labels(s)).WithSpec(corev1.PodSpec().
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
