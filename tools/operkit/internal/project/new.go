package project

import (
	"github.com/operkit/operkit/tools/operkit/internal/manifest"
)

// RoleFile is the role of an operator, to which a kind and a component add rules.
const RoleFile = "config/rbac/role.yaml"

// KustomizationFile is the kustomization of an operator, to which a kind adds its definition.
const KustomizationFile = "config/kustomization.yaml"

// DeploymentFile is the Deployment of an operator, to which webhooks and conversions add WebhookPort.
const DeploymentFile = "config/manager/deployment.yaml"

// WebhookPort is the port of webhooks and conversions in the Pods.
const WebhookPort = 9443

// New returns the files of a new project with one kind.
func New(values Values) ([]File, error) {
	files, err := Render(Base, values)
	if err != nil {
		return nil, err
	}
	kind, err := Render(Kind, values)
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		if file.Path != RoleFile {
			continue
		}
		if files[i].Text, _, err = manifest.AddRules(file.Text, KindRules(values)...); err != nil {
			return nil, err
		}
	}
	return append(files, kind...), nil
}

// KindRules returns the rights that the operator needs for a kind: to its resources, and to the objects that the
// component server renders, unless the kind is empty.
func KindRules(values Values) []manifest.Rule {
	rules := manifest.ControllerRules(values.Group, values.Plural())
	if values.Empty {
		return rules
	}
	return append(rules, manifest.ObjectRule("apps", "deployments"), manifest.ObjectRule("", "services"))
}

// ComponentRules returns the rights that the operator needs for a new component.
func ComponentRules() []manifest.Rule { return []manifest.Rule{manifest.ObjectRule("", "configmaps")} }
