package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// cachedObjects is the number of objects of a kind in a cache, teams the number of their different shapes.
const (
	cachedObjects = 2_000
	teams         = 20
)

// created is when the first object was made.
var created = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)

// dice draws the random parts of the objects.
type dice struct{ *rand.Rand }

func newDice(i int) dice { return dice{rand.New(rand.NewPCG(7, uint64(i)))} }

func (d dice) hex(n int) string {
	const digits = "0123456789abcdef"
	text := make([]byte, n)
	for i := range text {
		text[i] = digits[d.IntN(len(digits))]
	}
	return string(text)
}

func (d dice) uid() types.UID {
	return types.UID(d.hex(8) + "-" + d.hex(4) + "-4" + d.hex(3) + "-a" + d.hex(3) + "-" + d.hex(12))
}

// described returns the metadata of object i, as an operator would render it.
func (d dice) described(i int) metav1.ObjectMeta {
	team, yes := fmt.Sprintf("team-%d", i%teams), true
	shop := fmt.Sprintf("shop-%d", i/10)
	return metav1.ObjectMeta{
		Namespace: team, Name: fmt.Sprintf("%s-%s-%d", shop, d.hex(5), i), UID: d.uid(),
		ResourceVersion: strconv.Itoa(100_000 + 37*i), CreationTimestamp: metav1.NewTime(created.Add(time.Duration(i) * time.Minute)),
		Labels: map[string]string{
			"app.kubernetes.io/name": "shop", "app.kubernetes.io/instance": shop,
			"app.kubernetes.io/component": "frontend", "app.kubernetes.io/managed-by": "shop-operator",
		},
		Annotations: map[string]string{"operkit.dev/applied": d.hex(64)},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "example.com/v1", Kind: "Shop", Name: shop, UID: newDice(-i/10 - 1).uid(), Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
}

// configMaps returns ConfigMaps of 10 kB each, with five files whose names depend on the team.
func configMaps() []runtime.Object {
	objects := make([]runtime.Object, cachedObjects)
	for i := range objects {
		d := newDice(i)
		obj := &corev1.ConfigMap{ObjectMeta: d.described(i), Data: map[string]string{}}
		for file := range 5 {
			obj.Data[fmt.Sprintf("part-%d-of-%d.yaml", file, i%teams)] = d.hex(2000)
		}
		applied := contentOf(obj)
		obj.ManagedFields = []metav1.ManagedFieldsEntry{
			managed(obj, "operkit", metav1.ManagedFieldsOperationApply, "", applied),
			managed(obj, "kubectl-edit", metav1.ManagedFieldsOperationUpdate, "", map[string]any{
				"data": map[string]any{fmt.Sprintf("part-0-of-%d.yaml", i%teams): ""},
			}),
		}
		objects[i] = obj
	}
	return objects
}

// deployments returns as many Deployments as a cache has objects.
func deployments() []runtime.Object { return rolledOutDeployments(cachedObjects) }

// rolledOutDeployments returns n Deployments with two containers each, in the state after a rollout.
func rolledOutDeployments(n int) []runtime.Object {
	objects := make([]runtime.Object, n)
	for i := range objects {
		d := newDice(i)
		obj := &appsv1.Deployment{ObjectMeta: d.described(i)}
		obj.Generation = int64(1 + d.IntN(4))
		obj.Spec = deploymentSpec(obj, i)
		applied := contentOf(obj)
		obj.Annotations["deployment.kubernetes.io/revision"] = "3"
		obj.Status = rolledOut(obj)
		obj.ManagedFields = []metav1.ManagedFieldsEntry{
			managed(obj, "operkit", metav1.ManagedFieldsOperationApply, "", applied),
			managed(obj, "horizontal-pod-autoscaler", metav1.ManagedFieldsOperationUpdate, "scale", map[string]any{"spec": map[string]any{"replicas": 3}}),
			managed(obj, "kube-controller-manager", metav1.ManagedFieldsOperationUpdate, "status", map[string]any{
				"metadata": map[string]any{"annotations": map[string]any{"deployment.kubernetes.io/revision": "3"}},
				"status":   contentOf(&appsv1.Deployment{Status: obj.Status})["status"],
			}),
		}
		objects[i] = obj
	}
	return objects
}

func deploymentSpec(obj *appsv1.Deployment, i int) appsv1.DeploymentSpec {
	var (
		replicas, revisions, deadline, seconds = int32(3), int32(10), int32(600), int64(30)
		chosen                                 = map[string]string{"app.kubernetes.io/instance": obj.Labels["app.kubernetes.io/instance"]}
		quarter                                = intstr.FromString("25%")
		nobody, yes, no                        = int64(65532), true, false
	)
	container := func(name string, port int32) corev1.Container {
		probe := func(path string) *corev1.Probe {
			return &corev1.Probe{
				ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString("http"), Scheme: "HTTP"}},
				TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
			}
		}
		return corev1.Container{
			Name: name, Image: fmt.Sprintf("registry.example/%s/%s:1.%d.2", obj.Namespace, name, i%teams), ImagePullPolicy: corev1.PullIfNotPresent,
			Args:  []string{"serve", "--listen=:" + strconv.Itoa(int(port))},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
			Env: []corev1.EnvVar{
				{Name: "SHOP", Value: obj.Name}, {Name: "LOG_LEVEL", Value: "info"},
				{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: quantity.MustParse("100m"), corev1.ResourceMemory: quantity.MustParse("128Mi")},
				Limits:   corev1.ResourceList{corev1.ResourceMemory: quantity.MustParse("256Mi")},
			},
			VolumeMounts:  []corev1.VolumeMount{{Name: "settings", MountPath: "/etc/shop", ReadOnly: true}},
			LivenessProbe: probe("/healthz"), ReadinessProbe: probe("/readyz"),
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: &yes, AllowPrivilegeEscalation: &no},
		}
	}
	return appsv1.DeploymentSpec{
		Replicas: &replicas, RevisionHistoryLimit: &revisions, ProgressDeadlineSeconds: &deadline, Selector: &metav1.LabelSelector{MatchLabels: chosen},
		Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &quarter, MaxSurge: &quarter}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: chosen},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{container("web", 8080), container("proxy", 8443)},
				Volumes: []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: obj.Name},
				}}}},
				RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: "default-scheduler",
				ServiceAccountName: "shop", TerminationGracePeriodSeconds: &seconds,
				SecurityContext: &corev1.PodSecurityContext{RunAsUser: &nobody, RunAsNonRoot: &yes},
			},
		},
	}
}

func rolledOut(obj *appsv1.Deployment) appsv1.DeploymentStatus {
	condition := func(kind appsv1.DeploymentConditionType, reason, message string) appsv1.DeploymentCondition {
		return appsv1.DeploymentCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message,
			LastUpdateTime: obj.CreationTimestamp, LastTransitionTime: obj.CreationTimestamp,
		}
	}
	return appsv1.DeploymentStatus{
		ObservedGeneration: obj.Generation, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3,
		Conditions: []appsv1.DeploymentCondition{
			condition(appsv1.DeploymentAvailable, "MinimumReplicasAvailable", "Deployment has minimum availability."),
			condition(appsv1.DeploymentProgressing, "NewReplicaSetAvailable", fmt.Sprintf("ReplicaSet %q has successfully progressed.", obj.Name+"-6d4cf56db6")),
		},
	}
}

// contentOf returns the content that a client would send to create obj, without the fields that the server sets.
func contentOf(obj runtime.Object) map[string]any {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		panic(err)
	}
	metadata, _ := content["metadata"].(map[string]any)
	for _, key := range []string{"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"} {
		delete(metadata, key)
	}
	if _, isDeployment := obj.(*appsv1.Deployment); isDeployment && len(metadata) > 0 {
		delete(content, "status")
	}
	return content
}

// managed adds a managedFields entry: manager owns the fields of content.
func managed(obj metav1.Object, manager string, operation metav1.ManagedFieldsOperationType, subresource string, content map[string]any) metav1.ManagedFieldsEntry {
	raw, err := json.Marshal(fieldsOf(content))
	if err != nil {
		panic(err)
	}
	version := "v1"
	if _, isDeployment := obj.(*appsv1.Deployment); isDeployment {
		version = "apps/v1"
	}
	at := obj.GetCreationTimestamp()
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: version, Time: &at, Subresource: subresource,
		FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: raw}, //nolint:staticcheck // without a copy
	}
}

// listKeys are the key fields of lists, which identify the items.
var listKeys = map[string][]string{
	"containers": {"name"}, "env": {"name"}, "volumes": {"name"}, "conditions": {"type"},
	"ports": {"containerPort", "protocol"}, "volumeMounts": {"mountPath"}, "ownerReferences": {"uid"},
}

// fieldsOf returns the set of the fields of content, in the form of managedFields.
func fieldsOf(content map[string]any) map[string]any {
	fields := map[string]any{}
	for key, value := range content {
		of := map[string]any{}
		switch value := value.(type) {
		case map[string]any:
			of = fieldsOf(value)
		case []any:
			for _, item := range value {
				keys, item := listKeys[key], asMap(item)
				if keys == nil {
					continue
				}
				named := map[string]any{}
				for _, name := range keys {
					named[name] = item[name]
				}
				element, err := json.Marshal(named)
				if err != nil {
					panic(err)
				}
				owned := fieldsOf(item)
				owned["."] = map[string]any{}
				of["k:"+string(element)] = owned
			}
		}
		fields["f:"+key] = of
	}
	return fields
}

func asMap(value any) map[string]any {
	content, _ := value.(map[string]any)
	return content
}
