package bundles

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"

	v1 "github.com/operkit/operkit/tools/bench/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// mostProblems is how many problems are reported.
const mostProblems = 5

// Check checks that exactly the Bundles from 0 up to count exist, and that their children match their specifications.
func (f *Fleet) Check(ctx context.Context, count int) error {
	var list v1.BundleList
	if err := f.bundles.Get().Namespace(f.namespace).Resource(plural).Do(ctx).Into(&list); err != nil {
		return err
	}
	children, err := f.list(ctx)
	if err != nil {
		return err
	}
	var problems []error
	if len(list.Items) != count {
		problems = append(problems, fmt.Errorf("there are %d Bundles, not %d", len(list.Items), count))
	}
	for _, what := range children.counts() {
		if want := what.each * count; what.found != want {
			problems = append(problems, fmt.Errorf("there are %d %s, not %d", what.found, what.kind, want))
		}
	}
	for i := range list.Items {
		problems = append(problems, children.check(&list.Items[i])...)
		if len(problems) >= mostProblems {
			break
		}
	}
	return errors.Join(problems...)
}

// family has all children of all Bundles, by name.
type family struct {
	accounts    map[string]corev1.ServiceAccount
	configMaps  map[string]corev1.ConfigMap
	services    map[string]corev1.Service
	deployments map[string]appsv1.Deployment
}

// ours selects the children of Bundles.
var ours = metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=bundle"}

func (f *Fleet) list(ctx context.Context) (family, error) {
	accounts, err := f.children.CoreV1().ServiceAccounts(f.namespace).List(ctx, ours)
	if err != nil {
		return family{}, err
	}
	configMaps, err := f.children.CoreV1().ConfigMaps(f.namespace).List(ctx, ours)
	if err != nil {
		return family{}, err
	}
	services, err := f.children.CoreV1().Services(f.namespace).List(ctx, ours)
	if err != nil {
		return family{}, err
	}
	deployments, err := f.children.AppsV1().Deployments(f.namespace).List(ctx, ours)
	if err != nil {
		return family{}, err
	}
	return family{byName(accounts.Items), byName(configMaps.Items), byName(services.Items), byName(deployments.Items)}, nil
}

func byName[T any, P interface {
	*T
	GetName() string
}](items []T) map[string]T {
	named := make(map[string]T, len(items))
	for i := range items {
		named[P(&items[i]).GetName()] = items[i]
	}
	return named
}

type kindCount struct {
	kind        string
	each, found int
}

func (c family) counts() []kindCount {
	return []kindCount{
		{"ServiceAccounts", 1, len(c.accounts)}, {"ConfigMaps", 2, len(c.configMaps)},
		{"Services", 1, len(c.services)}, {"Deployments", 1, len(c.deployments)},
	}
}

// check returns what is wrong with the children of one Bundle.
func (c family) check(bundle *v1.Bundle) (problems []error) {
	name, size := bundle.Name, strconv.Itoa(int(bundle.Spec.Size))
	message, sizes := c.configMaps[name+"-message"], c.configMaps[name+"-size"]
	account, service, deployment := c.accounts[name], c.services[name], c.deployments[name]
	wrong := func(what string, live any) {
		problems = append(problems, fmt.Errorf("bundle %s: %s is %v", name, what, live))
	}
	for what, child := range map[string]metav1.Object{
		"ConfigMap message": &message, "ConfigMap size": &sizes, "ServiceAccount": &account, "Service": &service, "Deployment": &deployment,
	} {
		if !belongs(child, bundle) {
			wrong("the owner of its "+what, child.GetOwnerReferences())
		}
		if labels := child.GetLabels(); labels["app.kubernetes.io/name"] != "bundle" || labels["app.kubernetes.io/instance"] != name {
			wrong("the labels of its "+what, labels)
		}
	}
	instance := map[string]string{"app.kubernetes.io/instance": name}
	if !maps.Equal(message.Data, map[string]string{"message": bundle.Spec.Message}) {
		wrong("its message", message.Data)
	}
	if !maps.Equal(sizes.Data, map[string]string{"size": size}) {
		wrong("its size", sizes.Data)
	}
	if ports := service.Spec.Ports; len(ports) != 1 || ports[0].Name != "http" || ports[0].Port != 80 || ports[0].TargetPort != intstr.FromString("http") ||
		!maps.Equal(service.Spec.Selector, instance) {
		wrong("its Service", service.Spec)
	}
	pods := deployment.Spec.Template.Labels
	if !runs(deployment.Spec, name, size) || deployment.Spec.Selector == nil || !maps.Equal(deployment.Spec.Selector.MatchLabels, instance) ||
		!maps.Equal(pods, map[string]string{"app.kubernetes.io/name": "bundle", "app.kubernetes.io/instance": name}) {
		wrong("its Deployment", deployment.Spec)
	}
	return problems
}

// belongs reports whether a Bundle is the owner of a child.
func belongs(child metav1.Object, bundle *v1.Bundle) bool {
	owners := child.GetOwnerReferences()
	return len(owners) == 1 && owners[0].UID == bundle.UID
}

// runs reports whether the spec of a Deployment is right for a Bundle of that name and size.
func runs(spec appsv1.DeploymentSpec, name, size string) bool {
	pod := spec.Template.Spec
	if spec.Replicas == nil || *spec.Replicas != 0 || pod.ServiceAccountName != name || len(pod.Containers) != 1 {
		return false
	}
	web := pod.Containers[0]
	return web.Name == "web" && web.Image == "registry.example/bundle:1.0" &&
		len(web.Env) == 1 && web.Env[0].Name == "SIZE" && web.Env[0].Value == size &&
		len(web.Ports) == 1 && web.Ports[0].Name == "http" && web.Ports[0].ContainerPort == 8080 &&
		web.Resources.Requests.Cpu().Equal(resource.MustParse("100m")) && web.Resources.Requests.Memory().Equal(resource.MustParse("64Mi"))
}
