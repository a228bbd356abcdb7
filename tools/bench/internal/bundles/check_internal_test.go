package bundles

import (
	"testing"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// children are those of a Bundle as they should be.
func childrenOf(bundle *v1.Bundle) family {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": bundle.Name},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Bundle", Name: bundle.Name, UID: bundle.UID}},
		}
	}
	name := bundle.Name
	deployment := appsv1.Deployment{ObjectMeta: meta(name)}
	deployment.Spec.Replicas = new(int32)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/instance": name}}
	deployment.Spec.Template.Labels = meta(name).Labels
	deployment.Spec.Template.Spec = corev1.PodSpec{ServiceAccountName: name, Containers: []corev1.Container{{
		Name: "web", Image: "registry.example/bundle:1.0", Env: []corev1.EnvVar{{Name: "SIZE", Value: "3"}},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("0.1"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		}},
	}}}
	service := corev1.Service{ObjectMeta: meta(name)}
	service.Spec.Selector = map[string]string{"app.kubernetes.io/instance": name}
	service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http")}}
	return family{
		accounts: map[string]corev1.ServiceAccount{name: {ObjectMeta: meta(name)}},
		configMaps: map[string]corev1.ConfigMap{
			name + "-message": {ObjectMeta: meta(name + "-message"), Data: map[string]string{"message": "hi"}},
			name + "-size":    {ObjectMeta: meta(name + "-size"), Data: map[string]string{"size": "3"}},
		},
		services: map[string]corev1.Service{name: service}, deployments: map[string]appsv1.Deployment{name: deployment},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		spoil func(c family)
		wrong string
	}{
		"as it should be":         {func(family) {}, ""},
		"another message":         {func(c family) { c.configMaps["b-message"].Data["message"] = "drifted" }, "its message is map[message:drifted]"},
		"one entry more":          {func(c family) { c.configMaps["b-size"].Data["x"] = "y" }, "its size is"},
		"a child that is missing": {func(c family) { delete(c.services, "b") }, "the owner of its Service is []"},
		"an owner more": {func(c family) {
			account := c.accounts["b"]
			account.OwnerReferences = append(account.OwnerReferences, metav1.OwnerReference{UID: "other"})
			c.accounts["b"] = account
		}, "the owner of its ServiceAccount is"},
		"another label":             {func(c family) { c.deployments["b"].Labels["app.kubernetes.io/name"] = "x" }, "the labels of its Deployment is"},
		"another image":             {func(c family) { c.deployments["b"].Spec.Template.Spec.Containers[0].Image = "x" }, "its Deployment is"},
		"another selector":          {func(c family) { c.deployments["b"].Spec.Selector.MatchLabels["x"] = "y" }, "its Deployment is"},
		"another label of the Pods": {func(c family) { delete(c.deployments["b"].Spec.Template.Labels, "app.kubernetes.io/name") }, "its Deployment is"},
		"scaled":                    {func(c family) { *c.deployments["b"].Spec.Replicas = 1 }, "its Deployment is"},
		"other requests": {func(c family) {
			delete(c.deployments["b"].Spec.Template.Spec.Containers[0].Resources.Requests, corev1.ResourceCPU)
		}, "its Deployment is"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			bundle := &v1.Bundle{ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "u"}, Spec: v1.BundleSpec{Size: 3, Message: "hi"}}
			children := childrenOf(bundle)
			row.spoil(children)
			problems := children.check(bundle)
			if row.wrong == "" {
				assert.Empty(t, problems)
				return
			}
			assert.ErrorContains(t, problems[0], "bundle b: "+row.wrong)
		})
	}
}
