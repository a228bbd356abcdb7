package watches

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DefaultArtifacts is how many runs of a resource are kept if an entry doesn't say it.
const DefaultArtifacts = 20

// Entry says how the resources of a kind are reconciled.
type Entry struct {
	// Kind is the kind of the resources.
	Kind schema.GroupVersionKind
	// Source is what is run.
	Source
	// Roles is the folder roles beside the file, empty if there is none. Playbooks find roles in it.
	Roles string
	// Vars are variables of each run. They win over the fields of the spec.
	Vars map[string]any
	// Finalizer is nil if nothing is run before a resource is deleted.
	Finalizer *Finalizer
	// ReconcilePeriod is the time after which a resource is reconciled again. Zero means the default of the program.
	ReconcilePeriod time.Duration
	// ManageStatus: the conditions of a resource report the runs. The default is true.
	ManageStatus bool
	// WatchDependentResources: a change of an object that a run has written starts another one. The default is true.
	WatchDependentResources bool
	// WatchClusterScopedResources: so does a change of one without a namespace. The default is false.
	WatchClusterScopedResources bool
	// WatchAnnotationsChanges: a change of the annotations of a resource starts a run. The default is false.
	WatchAnnotationsChanges bool
	// SnakeCaseParameters: the names of the spec's fields become snake_case. The default is true.
	SnakeCaseParameters bool
	// MarkUnsafe: Ansible doesn't evaluate the texts of a resource as templates, by which whoever may write the
	// resource could run commands. The default is true.
	MarkUnsafe bool
	// Selector selects resources by their labels. An empty one selects all.
	Selector metav1.LabelSelector
	// Blacklist has the kinds whose changes start no run, although a run has written the object.
	Blacklist []schema.GroupVersionKind
	// MaxRunnerArtifacts is how many runs of a resource are kept. The default is DefaultArtifacts, and all are kept if
	// it is negative.
	MaxRunnerArtifacts int
	// ServiceAccount is in whose name a run speaks to the API. Without one, nil, a run has no access to the API.
	ServiceAccount *ServiceAccount
	// Manages are the kinds that a run may write.
	Manages []schema.GroupVersionKind
}

// Source is a playbook or a role.
type Source struct {
	// Playbook is the absolute path of a file, and Role that of a folder. One of them is set.
	Playbook, Role string
}

// Finalizer says what is run before a resource is deleted.
type Finalizer struct {
	// Name is the finalizer of the resources.
	Name string
	// Source is what is run. Without one, it is that of the entry.
	Source
	// Vars are variables of this run. They win over those of the entry.
	Vars map[string]any
}

// ServiceAccount names a ServiceAccount.
type ServiceAccount struct {
	// Name is its name.
	Name string
	// Namespace is its namespace. If it is empty, it is the namespace of the resource.
	Namespace string
}

// SourceOf returns what is run for a resource: the source of the entry, or that of the finalizer.
func (e *Entry) SourceOf(finalizes bool) Source {
	if finalizes && e.Finalizer != nil && e.Finalizer.Source != (Source{}) {
		return e.Finalizer.Source
	}
	return e.Source
}

// Path returns the path of the playbook or the role.
func (s Source) Path() string { return s.Playbook + s.Role }
