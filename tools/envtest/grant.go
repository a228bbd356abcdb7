package envtest

import (
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// Grant is a set of rights. The zero value grants nothing.
type Grant struct {
	namespaced []rbacv1.PolicyRule
	cluster    []rbacv1.PolicyRule
	paths      []string
}

// InNamespace grants the rules inside the test's namespace.
func InNamespace(rules ...rbacv1.PolicyRule) Grant { return Grant{namespaced: rules} }

// ClusterWide grants the rules in all namespaces, and for cluster-scoped resources and URL paths (NonResourceURLs).
func ClusterWide(rules ...rbacv1.PolicyRule) Grant { return Grant{cluster: rules} }

// EverythingInNamespace grants everything inside the test's namespace.
func EverythingInNamespace() Grant {
	return InNamespace(rbacv1.PolicyRule{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}})
}

// RolesIn grants the rights of the Role and ClusterRole documents in YAML files and folders: the rules of a ClusterRole
// in the whole cluster, the rules of a Role in the test's namespace, whatever namespace the file names. With these a
// test runs a program with exactly the rights that the program is shipped with. Other documents are ignored.
func RolesIn(paths ...string) Grant { return Grant{paths: paths} }

// rules returns the rules of all grants.
func rules(grants []Grant) (namespaced, cluster []rbacv1.PolicyRule, err error) {
	for _, grant := range grants {
		namespaced = append(namespaced, grant.namespaced...)
		cluster = append(cluster, grant.cluster...)
		for _, path := range grant.paths {
			role, clusterRole, err := rulesIn(path)
			if err != nil {
				return nil, nil, err
			}
			namespaced, cluster = append(namespaced, role...), append(cluster, clusterRole...)
		}
	}
	return namespaced, cluster, nil
}

func rulesIn(path string) (namespaced, cluster []rbacv1.PolicyRule, err error) {
	documents, err := readDocuments(path)
	if err != nil {
		return nil, nil, fmt.Errorf("roles: %w", err)
	}
	found := false
	for _, document := range documents {
		var role rbacv1.ClusterRole
		if document.kind != "Role" && document.kind != "ClusterRole" {
			continue
		}
		if err := yaml.UnmarshalStrict(document.text, &role); err != nil {
			return nil, nil, fmt.Errorf("roles: %s: %w", document.file, err)
		}
		found = true
		if document.kind == "Role" {
			namespaced = append(namespaced, role.Rules...)
		} else {
			cluster = append(cluster, role.Rules...)
		}
	}
	if !found {
		return nil, nil, fmt.Errorf("roles: %s holds no Role and no ClusterRole", path)
	}
	return namespaced, cluster, nil
}
