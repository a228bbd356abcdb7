package v1

import (
	"github.com/operkit/operkit/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// DatabaseKind is the kind that the operator controls.
var DatabaseKind = schema.GroupVersionKind{Group: "examples.operkit.dev", Version: "v1", Kind: "Database"}

// Database is a PostgreSQL server with a volume, a password, a certificate and backups. The names of its objects begin
// with its name.
//
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 45",message="a database's name has at most 45 characters: its CronJob's name, which has 7 more, may have 52"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z][^.]*$')",message="a database's name begins with a letter and has no dots: its Service has the same name"
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=db
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Updating")].reason`
// +kubebuilder:printcolumn:name="Components",type=string,JSONPath=`.status.componentStatus.verified`
// +kubebuilder:printcolumn:name="Endpoint",type=string,JSONPath=`.status.endpoint`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Version",type=string,priority=1,JSONPath=`.status.versions.reconciled`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Updating")].message`
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseSpec is what its author wants.
type DatabaseSpec struct {
	// Image is the image of PostgreSQL.
	// +optional
	// +kubebuilder:default="postgres:18"
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Storage is the size of the volume, which can grow but not shrink.
	// +optional
	// +kubebuilder:default="1Gi"
	Storage resource.Quantity `json:"storage"`
	// Schema is SQL that is run once for each of its values, in a transaction, when the server is ready.
	// +optional
	// +kubebuilder:validation:MaxLength=100000
	Schema string `json:"schema,omitempty"`
	// Archive is the name of a claim into which dumps are written: backups, and an export before the database is
	// deleted. Without it there are neither.
	// +optional
	Archive string `json:"archive,omitempty"`
	// Backup is about the backups.
	// +optional
	// +kubebuilder:default={}
	Backup BackupSpec `json:"backup"`
}

// BackupSpec says whether and when backups are made.
type BackupSpec struct {
	// Enabled false ends the backups. Those that there are stay.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`
	// Schedule is the time of the backups, in the form of a CronJob.
	// +optional
	// +kubebuilder:default="0 3 * * *"
	// +kubebuilder:validation:MinLength=1
	Schedule string `json:"schedule"`
}

// DatabaseStatus is what the operator reports.
type DatabaseStatus struct {
	status.Fields `json:",inline"`
	// Endpoint is the host and port at which the database listens.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`
	// Binding names the Secret with which programs reach the database, by the specification Service Binding.
	// +optional
	Binding *corev1.LocalObjectReference `json:"binding,omitempty"`
}

// DatabaseList is a list of databases.
//
// +kubebuilder:object:root=true
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Database `json:"items"`
}
