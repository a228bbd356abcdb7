# The tasks of this repository. `make` without arguments lists them.

.DEFAULT_GOAL := help

# Built, not run with `go run`, so that a signal to make reaches the program itself.
CHECK := .cache/bin/check
DEMO := .cache/bin/guestbook-demo
RELEASE := .cache/bin/release
# The modules that are measured next to peers: the folders in tools/peers that use the runner.
MEASURED := $(patsubst tools/peers/%/go.mod,%,$(shell grep -ls 'peers/ratio =>' tools/peers/*/go.mod))

# No debug information: nobody debugs these programs, and it would make compilers a quarter slower.
export GOFLAGS := $(shell go env GOFLAGS) -gcflags=all=-dwarf=false

# The control plane of cluster-up, for the examples: tests start their own.
CLUSTER := .cache/cluster
DEVCLUSTER := go run ./tools/envtest/cmd/devcluster

.PHONY: help test check api verify generate fmt demo cluster-up cluster-down soak ratios bench ahead $(CHECK) $(RELEASE)

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

test: $(CHECK) ## run every test; MODULE=dag: of one module, RUN=regexp, COUNT=n
	@exec $(CHECK) test -module '$(MODULE)' -run '$(RUN)' $(if $(COUNT),-count $(COUNT))

check: $(CHECK) ## format, lint, arrows, budgets, licences, docs, tidy, generated files, rules proven by tests
	@exec $(CHECK) all

api: $(RELEASE) ## how APIs of modules differ from those at SINCE=HEAD~1
	@exec $(RELEASE) api $(if $(SINCE),--since '$(SINCE)')

verify: $(RELEASE) ## fetch, build and test every module as a consumer would; MODULE=dag: of one module
	@exec $(RELEASE) verify --module '$(MODULE)'

generate: $(CHECK) ## make the generated files anew
	@exec $(CHECK) generate

fmt: $(CHECK) ## format every Go file
	@exec $(CHECK) format -w

demo: ## watch an operator at work on a real control plane; KEEP=1 leaves that up
	@CGO_ENABLED=0 go build -trimpath -buildvcs=false -o $(DEMO) ./examples/guestbook/demo
	@exec env KEEP='$(KEEP)' $(DEMO)

# The program of the control plane is built once per machine. That takes some minutes, and shows its progress.
cluster-up: ## start a control plane on this machine, unless it runs: real, with simulated nodes and volumes
	@$(DEVCLUSTER) build >/dev/null
	@$(DEVCLUSTER) status --dir $(CLUSTER) >/dev/null 2>&1 || $(DEVCLUSTER) up --detach --dir $(CLUSTER)
	@echo 'to use it: export OPERKIT_DEVCLUSTER=$(CURDIR)/$(CLUSTER) KUBECONFIG=$(CURDIR)/$(CLUSTER)/kubeconfig'

cluster-down: ## stop that control plane, and delete its contents
	@$(DEVCLUSTER) down --dir $(CLUSTER)

soak: $(CHECK) ## the long tests in full, then every fuzz target for FUZZTIME=1m; MODULE=dag, RUN=regexp: these tests alone
	@$(CHECK) test -soak -module '$(MODULE)' -run '$(RUN)'
	@$(if $(RUN),:,exec $(CHECK) fuzz -module '$(MODULE)' -time '$(or $(FUZZTIME),1m)')

ratios: ## measure next to peers, against goals; MODULE=dag: one module, RUN=regexp
	@status=0; for module in $(or $(MODULE),$(MEASURED)); do \
		case ' $(MEASURED) ' in *" $$module "*) ;; *) \
			echo "ratios: module $$module isn't measured; those that are: $(MEASURED)" >&2; exit 2;; esac; \
		(cd tools/peers/$$module && GOWORK=off go build -buildvcs=false -o ../../../.cache/bin/ratios-$$module .) && \
			.cache/bin/ratios-$$module $(if $(RUN),-run '$(RUN)') || status=1; \
	done; exit $$status

bench: ## measure whole operators next to controller-runtime's; SHORT=1: in half an hour, FRESH=1: forget earlier rounds
	@cd tools/bench && GOWORK=off go build -buildvcs=false -o ../../.cache/bin/bench .
	@exec .cache/bin/bench $(if $(SHORT),-short) $(if $(FRESH),-fresh)

# Without the workspace, so that a broken go.work can still be checked.
$(CHECK):
	@cd tools/check && GOWORK=off go build -buildvcs=false -o ../../$(CHECK) .

$(RELEASE):
	@cd tools/release && GOWORK=off go build -buildvcs=false -o ../../$(RELEASE) .

# For a machine on which nothing is compiled yet: compiles the packages of operators that tests build, and builds and
# runs the linter. Tests and checks would do all of it themselves; this does it while tests wait.
ahead: $(CHECK)
	@CGO_ENABLED=0 GOGC=400 go list -trimpath -export -deps ./examples/... >/dev/null
	@exec $(CHECK) lint
