package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/desired"
	corev1 "k8s.io/api/core/v1"
)

// The labels of Pods: the name of their set, and the revision of its template.
const (
	setLabel      = "examples.operkit.dev/catset"
	revisionLabel = "examples.operkit.dev/revision"
)

// numbered are Pods of a set by their numbers.
type numbered map[int]*corev1.Pod

// podsOf returns the observed Pods of a set.
func podsOf(r Request) (numbered, error) {
	all, err := desired.List[corev1.Pod](r.Children, podKind)
	if err != nil {
		return nil, err
	}
	pods := make(numbered, len(all))
	for _, pod := range all {
		number, err := strconv.Atoi(strings.TrimPrefix(pod.Name, r.Parent.Name+"-"))
		if err != nil {
			return nil, fmt.Errorf("Pod %s: its name doesn't end in a number: delete it", pod.Name)
		}
		pods[number] = pod
	}
	return pods, nil
}

// last returns the highest number, -1 without Pods.
func (n numbered) last() int {
	if len(n) == 0 {
		return -1
	}
	return slices.Max(slices.Collect(maps.Keys(n)))
}

// haveEnded reports whether one of the Pods has ended.
func (n numbered) haveEnded() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(n)), hasEnded)
}

// isHealthy reports whether a Pod exists, is ready, and stays.
func isHealthy(pod *corev1.Pod) bool {
	return pod != nil && pod.DeletionTimestamp == nil && slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// hasEnded reports whether a Pod exists and will never be ready again, such as one that was evicted.
func hasEnded(pod *corev1.Pod) bool {
	return pod != nil && (pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded)
}

// nameOf names a Pod.
func nameOf(set *v1.CatSet, number int) string { return fmt.Sprintf("%s-%d", set.Name, number) }

// podOf returns the wanted Pod of a number. Its name, its host name and its volume are the same each time.
func podOf(set *v1.CatSet, number int) *corev1.Pod {
	template := set.Spec.Template.DeepCopy()
	pod := &corev1.Pod{Spec: template.Spec}
	pod.SetGroupVersionKind(podKind)
	pod.Name, pod.Annotations = nameOf(set, number), template.Annotations
	pod.Labels = map[string]string{setLabel: set.Name, revisionLabel: revisionOf(set)}
	maps.Copy(pod.Labels, template.Labels)
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Name
	data := corev1.Volume{Name: "data"}
	data.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimOf(set, number).Name}
	pod.Spec.Volumes = append(pod.Spec.Volumes, data)
	return pod
}

// revisionOf names the template of a set.
func revisionOf(set *v1.CatSet) string {
	content, _ := json.Marshal(set.Spec.Template) // nothing in it can fail
	return fmt.Sprintf("%x", sha256.Sum256(content))[:10]
}

// claimOf returns the claim for the volume of a Pod, which stays when the Pod goes.
func claimOf(set *v1.CatSet, number int) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{}
	claim.SetGroupVersionKind(claimKind)
	claim.Name = "data-" + nameOf(set, number)
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: set.Spec.Storage}
	return claim
}

// serviceOf returns the headless Service that gives each Pod a name in DNS, with the ports of the template.
func serviceOf(set *v1.CatSet) *corev1.Service {
	service := &corev1.Service{}
	service.SetGroupVersionKind(serviceKind)
	service.Name = set.Name
	service.Spec.ClusterIP = corev1.ClusterIPNone
	service.Spec.Selector = map[string]string{setLabel: set.Name}
	for _, container := range set.Spec.Template.Spec.Containers {
		for _, port := range container.Ports {
			service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: port.Name, Port: port.ContainerPort, Protocol: port.Protocol})
		}
	}
	return service
}
