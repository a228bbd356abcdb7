package main

import (
	"os"
	"runtime"
	"runtime/debug"
	_ "time/tzdata" // the time zones of CronJobs, on a machine without any

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // metrics of client requests
	_ "k8s.io/component-base/metrics/prometheus/version"  // metric of the version
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components maps the names of the linked programs to their main functions, which return the exit code.
var components = map[string]func() int{
	"etcd":                    etcd,
	"kube-apiserver":          func() int { return cli.Run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": controllerManager,
	"kube-scheduler":          func() int { return cli.Run(scheduler.NewSchedulerCommand()) },
	"kwok":                    kwok,
}

func etcd() int {
	etcdmain.Main(os.Args)
	return 0
}

// kubectl is kubectl's own main function.
func kubectl(arguments []string) int {
	os.Args = append([]string{"kubectl"}, arguments...)
	var cmd *cobra.Command = kubectlcmd.NewDefaultKubectlCommand()
	if err := cli.RunNoErrOutput(cmd); err != nil {
		kubectlutil.CheckErr(err) // prints the error and exits
	}
	return 0
}

// checkGates returns an error for feature gates that the components would refuse. All components know the same gates,
// since they are one program.
func checkGates(gates string) error {
	if gates == "" {
		return nil
	}
	return utilfeature.DefaultMutableFeatureGate.DeepCopy().Set(gates)
}

// versions returns the versions of the linked programs other than Kubernetes itself.
func versions() map[string]string {
	found := map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return found
	}
	names := map[string]string{"go.etcd.io/etcd/server/v3": "etcd", "sigs.k8s.io/kwok": "kwok"}
	for _, module := range info.Deps {
		if name, ok := names[module.Path]; ok {
			found[name] = module.Version
		}
	}
	return found
}
