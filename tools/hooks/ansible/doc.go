// Package ansible reconciles resources by playbooks and roles of Ansible, as a file watches.yaml of the Ansible operator
// says.
//
// For each resource ansible-playbook runs when the resource is new or has changed, when an object that a run has made
// changes, after a time, and before the resource is gone. A run speaks to the API server through a proxy, as a
// ServiceAccount that the file names, and may write objects of the kinds that the file names; the objects that it makes
// are owned by the resource. The outcome of a run is in the conditions of the resource.
//
//	var playbooks ansible.Playbooks
//	err := playbooks.ReadFile("watches.yaml")
//	op := operator.New("caches", operator.Startup("playbooks", func(ctx context.Context, p operator.Process) (func(context.Context) error, error) {
//		return nil, playbooks.Start(ctx, ansible.Config{API: api, Folder: "/var/lib/caches"})
//	}))
//	op.DriveKinds(playbooks.Selector(), playbooks.Reconciler, "patch")
//
// It is what the command hooks does with --watches. Its README says what differs from the Ansible operator.
package ansible
