package command

import (
	"context"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/tools/hooks/ansible"
	"github.com/spf13/pflag"
)

// playbooks has the playbooks that the settings name.
type playbooks struct {
	paths  []string
	config ansible.Config
	all    ansible.Playbooks
}

func (p *playbooks) flags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&p.paths, "watches", nil, "files watches.yaml with the playbooks and roles of Ansible for kinds")
	flags.StringVar(&p.config.Folder, "playbook-folder", filepath.Join(os.TempDir(), "hooks-playbooks"), "folder of the files and the latest outputs of playbooks, for this process alone")
	flags.DurationVar(&p.config.Period, "playbook-period", ansible.DefaultPeriod, "time after which a playbook is run again for a resource, unless watches.yaml says it")
	flags.DurationVar(&p.config.Timeout, "playbook-timeout", ansible.DefaultTimeout, "longest time of a run of a playbook")
	flags.IntVar(&p.config.Workers, "playbook-workers", 0, "playbooks of a kind that run at once, 0 for the number of processors; WORKER_<KIND>_<GROUP> sets it for a kind")
	flags.IntVar(&p.config.Verbosity, "playbook-verbosity", 0, "how much Ansible writes, from 0 to 7; ANSIBLE_VERBOSITY_<KIND>_<GROUP> sets it for a kind")
	flags.StringVar(&p.config.Python, "playbook-python", "/usr/bin/python3", "Python of Ansible's modules, with the package kubernetes")
}

// load reads the files.
func (p *playbooks) load(context.Context, operator.Process) error {
	for _, path := range p.paths {
		if err := p.all.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}

// start reads the files, and starts the proxy to the API server.
func (p *playbooks) start(ctx context.Context, about operator.Process) (cleanup func(context.Context) error, err error) {
	if len(p.paths) == 0 {
		return nil, nil
	}
	if err := p.load(ctx, about); err != nil {
		return nil, err
	}
	if p.config.API, err = cluster.Config(about.Config.Kubeconfig, about.Config.Context); err != nil {
		return nil, err
	}
	p.config.Logger = about.Logger
	about.Logger.Info("playbooks read", "kinds", p.all.Names())
	return nil, p.all.Start(ctx, p.config)
}
