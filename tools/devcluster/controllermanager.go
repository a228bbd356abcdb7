package main

import (
	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/operkit/operkit/tools/devcluster/internal/cluster"
	"github.com/operkit/operkit/tools/devcluster/internal/provisioner"
)

// controllerManager is kube-controller-manager's own main function. With two more flags it also runs the provisioner of
// volumes, which in its own process would take as much memory as a whole component.
func controllerManager() int {
	cmd := controllermanager.NewControllerManagerCommand()
	name := cmd.Flags().String(cluster.ProvisionerFlag, "", "name of a provisioner of volumes to run, for StorageClasses")
	kubeconfig := cmd.Flags().String(cluster.ProvisionerKubeconfigFlag, "", "file with the provisioner's client configuration")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, arguments []string) error {
		if *name != "" {
			if err := provisioner.Start(cmd.Context(), *name, *kubeconfig); err != nil {
				return err
			}
		}
		return run(cmd, arguments)
	}
	return cli.Run(cmd)
}
