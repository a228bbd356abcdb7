package watches

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// readEntry returns an entry, with its defaults, and its mistakes.
func readEntry(text json.RawMessage, find paths) (*Entry, field.ErrorList) {
	e := &Entry{ManageStatus: true, WatchDependentResources: true, SnakeCaseParameters: true, MarkUnsafe: true}
	var period metav1.Duration
	var finalizer, account json.RawMessage
	var blacklist, manages []json.RawMessage
	errs := object(nil, text, fields{
		"group": &e.Kind.Group, "version": &e.Kind.Version, "kind": &e.Kind.Kind,
		"playbook": &e.Playbook, "role": &e.Role, "vars": &e.Vars, "finalizer": &finalizer,
		"reconcilePeriod": &period, "manageStatus": &e.ManageStatus, "watchDependentResources": &e.WatchDependentResources,
		"watchClusterScopedResources": &e.WatchClusterScopedResources, "watchAnnotationsChanges": &e.WatchAnnotationsChanges,
		"snakeCaseParameters": &e.SnakeCaseParameters, "markUnsafe": &e.MarkUnsafe, "selector": &e.Selector,
		"blacklist": &blacklist, "maxRunnerArtifacts": &e.MaxRunnerArtifacts,
		"serviceAccount": &account, "manages": &manages,
	})
	e.ReconcilePeriod, e.Roles = period.Duration, find.beside()
	if e.MaxRunnerArtifacts == 0 {
		e.MaxRunnerArtifacts = DefaultArtifacts
	}
	if finalizer != nil {
		at := field.NewPath("finalizer")
		f := &Finalizer{}
		errs = append(errs, object(at, finalizer, fields{"name": &f.Name, "playbook": &f.Playbook, "role": &f.Role, "vars": &f.Vars})...)
		errs = append(errs, f.check(at, find)...)
		e.Finalizer = f
	}
	if account != nil {
		at := field.NewPath("serviceAccount")
		a := &ServiceAccount{}
		errs = append(errs, object(at, account, fields{"name": &a.Name, "namespace": &a.Namespace})...)
		errs = append(errs, a.check(at)...)
		e.ServiceAccount = a
	}
	for i, item := range blacklist {
		at := field.NewPath("blacklist").Index(i)
		var kind schema.GroupVersionKind
		errs = append(errs, object(at, item, fields{"group": &kind.Group, "version": &kind.Version, "kind": &kind.Kind})...)
		errs = append(errs, checkKind(at, kind)...)
		e.Blacklist = append(e.Blacklist, kind)
	}
	for i, item := range manages {
		at := field.NewPath("manages").Index(i)
		var version, kind string
		errs = append(errs, object(at, item, fields{"apiVersion": &version, "kind": &kind})...)
		found, mistakes := parseKind(at, version, kind)
		errs = append(errs, mistakes...)
		e.Manages = append(e.Manages, found)
	}
	return e, append(errs, e.check(find)...)
}
