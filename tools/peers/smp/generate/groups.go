package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// groups are the stable versions of all groups that each cluster has.
var groups = []func(*runtime.Scheme) error{
	admissionv1.AddToScheme,
	admissionregistrationv1.AddToScheme,
	apidiscoveryv2.AddToScheme,
	apiextensionsv1.AddToScheme,
	apiregistrationv1.AddToScheme,
	appsv1.AddToScheme,
	authenticationv1.AddToScheme,
	authorizationv1.AddToScheme,
	autoscalingv1.AddToScheme,
	autoscalingv2.AddToScheme,
	batchv1.AddToScheme,
	certificatesv1.AddToScheme,
	coordinationv1.AddToScheme,
	corev1.AddToScheme,
	discoveryv1.AddToScheme,
	eventsv1.AddToScheme,
	flowcontrolv1.AddToScheme,
	networkingv1.AddToScheme,
	nodev1.AddToScheme,
	policyv1.AddToScheme,
	rbacv1.AddToScheme,
	resourcev1.AddToScheme,
	schedulingv1.AddToScheme,
	storagev1.AddToScheme,
	storagemigrationv1.AddToScheme,
}

// stable matches the package path of a stable version of a group.
var stable = regexp.MustCompile(`^k8s\.io/api/.*/v[0-9]+$`)

// everyGroup returns an error if k8s.io/api has a stable version that this program doesn't import, for instance from a
// new release of Kubernetes.
func everyGroup() error {
	all, err := packages("k8s.io/api/...")
	if err != nil {
		return err
	}
	imported, err := packages("-deps", ".")
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range all {
		if stable.MatchString(path) && !slices.Contains(imported, path) {
			problems = append(problems, fmt.Errorf("%s is a stable version of a group: add it to groups.go", path))
		}
	}
	return errors.Join(problems...)
}

func packages(args ...string) ([]string, error) {
	command := exec.Command("go", append([]string{"list"}, args...)...)
	command.Env = append(os.Environ(), "GOWORK=off")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(command.Args, " "), err)
	}
	return strings.Fields(string(out)), nil
}
