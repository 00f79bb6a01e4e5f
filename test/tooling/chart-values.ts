import { z } from 'zod';

/** Objects that Kubernetes defines. Kubernetes validates them when they are applied. */
const object = z.record(z.string(), z.unknown());
const objects = z.array(object);
const texts = z.record(z.string(), z.string());
const count = z.int().min(0);

const probe = (what: string) =>
  object.meta({ description: `Timing of the ${what} probe, with the field names of Kubernetes.` });

const monitored = (what: string) => ({
  enabled: z.boolean().meta({ description: `Creates ${what}.` }),
  namespace: z.string().meta({ description: 'Its namespace. Defaults to that of the release.' }),
  labels: texts.meta({ description: 'Additional labels, by which your monitoring selects it.' }),
});

/**
 * The values of the chart, for values.schema.json and the table in the chart's README. The schema of `config` is replaced by
 * that of the gate's configuration.
 */
export const chartValues = z
  .strictObject({
    global: object.meta({
      description: "A parent chart's global values. The chart ignores them, but templates in `config` may use them.",
    }),
    enabled: z.boolean().meta({ description: 'For the `condition` of the dependency in a parent chart.' }),
    mode: z.enum(['deployment', 'sidecar', 'inject']).meta({
      description:
        '`deployment`: a Deployment of this chart. `sidecar`: a container that a parent chart includes. `inject`: a container that the API server adds.',
    }),
    nameOverride: z.string().meta({ description: 'Replaces `coursegate` in names and labels.' }),
    fullnameOverride: z
      .string()
      .meta({ description: 'The name of all objects. Replaces the name made from the release and `nameOverride`.' }),
    image: z
      .strictObject({
        repository: z.string().min(1).meta({ description: 'The repository that you pushed the image to.' }),
        tag: z.string().meta({ description: "Defaults to the chart's appVersion." }),
        digest: z
          .string()
          .regex(/^(sha256:[0-9a-f]{64})?$/)
          .meta({ description: '`sha256:…`. If set, the tag is ignored.' }),
        pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).meta({ description: 'When the image is pulled.' }),
      })
      .partial(),
    imagePullSecrets: objects.meta({ description: 'Secrets for your registry.' }),
    replicas: count.meta({
      description:
        'Number of pods that run the gate. More than one needs Redis and `secret`. In mode sidecar: the replicas of your own Deployment.',
    }),
    config: z.unknown().meta({
      description:
        "The gate's configuration. `version`, `listen`, `store` and `secret` have defaults. Strings may be templates.",
    }),
    schools: z.record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/), z.unknown()).meta({
      description:
        "Many schools, by name: the settings of each school's file. `config` then has only the keys of the process. Strings may be templates.",
    }),
    files: z.record(z.string().regex(/^[-._a-zA-Z0-9]+$/), z.string()).meta({
      description:
        'Files next to the configuration, such as tools, GraphQL schemas or a logo. `config` refers to them without a folder.',
    }),
    reload: z.boolean().meta({
      description:
        'Whether the gate reloads a changed configuration while it is running, where possible. `false`: the pods are restarted.',
    }),
    secret: z
      .strictObject({
        existingSecret: z.string().meta({ description: 'The Secret with the key material (32 bytes or more).' }),
        key: z
          .string()
          .min(1)
          .meta({ description: 'The key in that Secret. The gate gets it as `COURSEGATE_SECRET`.' }),
      })
      .partial(),
    redis: z
      .strictObject({
        existingSecret: z.string().meta({
          description: 'The Secret with the URL of Redis. Uses Redis as the store, unless `config.store` is set.',
        }),
        key: z.string().min(1).meta({ description: 'The key in that Secret. The gate gets it as `REDIS_URL`.' }),
      })
      .partial(),
    extraEnv: objects.meta({
      description: 'Additional environment variables, such as those that `config` reads with `{ env: NAME }`.',
    }),
    extraEnvFrom: objects.meta({ description: 'Secrets and ConfigMaps whose keys become environment variables.' }),
    extraVolumes: objects.meta({ description: 'Additional volumes, such as certificates.' }),
    extraVolumeMounts: objects.meta({ description: "Where to mount them in the gate's container." }),
    extraObjects: z
      .array(z.union([object, z.string()]))
      .meta({ description: 'Additional objects of the release. They may be templates.' }),
    persistence: z
      .strictObject({
        enabled: z.boolean().meta({
          description: 'Keeps the embedded store on a volume. Without it, the store is lost when the pod ends.',
        }),
        existingClaim: z.string().meta({ description: 'An existing PersistentVolumeClaim to use.' }),
        storageClass: z.string().meta({ description: "Defaults to the cluster's default." }),
        accessModes: z.array(z.string()).min(1).meta({ description: 'Access modes of the claim.' }),
        size: z.string().meta({ description: 'Size of the volume.' }),
        annotations: texts.meta({ description: 'Annotations of the claim. `helm uninstall` keeps the claim.' }),
      })
      .partial(),
    backend: z
      .strictObject({
        container: object.meta({
          description: 'Your backend in the same pod, as a Kubernetes container. Mode deployment only.',
        }),
        preStopSeconds: count.meta({ description: 'How long it keeps running while load balancers remove the pod.' }),
        terminationSeconds: count.meta({ description: 'How long it may take to stop after that.' }),
      })
      .partial(),
    sidecar: z
      .strictObject({
        native: z.boolean().meta({
          description:
            'Runs the gate as a native sidecar, an init container that keeps running (Kubernetes 1.29). `false`: as a regular container.',
        }),
        podLabels: texts.meta({ description: 'Labels that select your pods. Required in mode sidecar.' }),
      })
      .partial(),
    inject: z
      .strictObject({
        label: z.string().min(1).meta({ description: 'Pods with this label set to "true" get the gate.' }),
        apiVersion: z
          .string()
          .regex(/^admissionregistration\.k8s\.io\/v1(beta1|alpha1)?$/)
          .meta({ description: '`v1` since Kubernetes 1.36. Before that, a version that your cluster serves.' }),
      })
      .partial(),
    service: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Creates a Service for the gate.' }),
        type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).meta({ description: 'Type of the Service.' }),
        port: z.int().min(1).max(65_535).meta({ description: 'Port of the Service.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    ingress: z
      .strictObject({
        enabled: z
          .boolean()
          .meta({ description: 'Creates an Ingress for the host of `config.origin`, or all hosts of `schools`.' }),
        addresses: z.array(z.string()).meta({
          description:
            'Further addresses whose hosts lead to the gate, such as those of schools on a volume. Also for `httpRoute`.',
        }),
        className: z.string().meta({ description: "Defaults to the cluster's default." }),
        annotations: texts.meta({ description: 'Its annotations.' }),
        tlsSecret: z.string().meta({
          description: 'The Secret with the TLS certificate. With `{host}` in its name, each host has its own.',
        }),
      })
      .partial(),
    httpRoute: z
      .strictObject({
        enabled: z.boolean().meta({
          description:
            'Creates an HTTPRoute (Gateway API) for the host of `config.origin`, or all hosts of `schools`. With more than 16 hosts, it has none and gets those of its listeners.',
        }),
        parentRefs: objects.meta({ description: 'The Gateways that it is attached to.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    plugin: z
      .strictObject({
        istio: z
          .strictObject({
            enabled: z.boolean().meta({
              description:
                'Creates an AuthorizationPolicy and a VirtualService that send routes with `forwardedBy: gateway` to their backends, after asking the gate.',
            }),
            provider: z
              .string()
              .min(1)
              .meta({ description: 'The name of the gate in `extensionProviders` of the mesh.' }),
            namespace: z
              .string()
              .meta({ description: 'The namespace of the ingress gateway. Defaults to that of the release.' }),
            selector: texts.meta({ description: 'The labels of the ingress gateway.' }),
            gateways: z.array(z.string()).meta({ description: 'The Gateways that the VirtualService is attached to.' }),
          })
          .partial(),
        from: objects.meta({
          description:
            'Peers that may reach the decision listener, if `networkPolicy` is enabled. Empty: the whole cluster.',
        }),
      })
      .partial(),
    networkPolicy: z
      .strictObject({
        enabled: z.boolean().meta({
          description: 'Creates a NetworkPolicy that allows traffic to the gate only, and to nothing else in the pod.',
        }),
        from: objects.meta({ description: 'Peers that may reach the gate. Empty: all.' }),
        metricsFrom: objects.meta({
          description:
            'Peers that may read the metrics. Empty: the whole cluster if the ServiceMonitor is enabled, otherwise none.',
        }),
        extraIngress: objects.meta({ description: 'Additional rules, for other ports of your pod.' }),
        backend: z
          .strictObject({
            podLabels: texts.meta({
              description: 'Labels of a backend in separate pods, which only the gate may reach.',
            }),
            extraIngress: objects.meta({ description: 'Additional rules for the pods of that backend.' }),
          })
          .partial(),
      })
      .partial(),
    podDisruptionBudget: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Creates a PodDisruptionBudget. Mode deployment only.' }),
        maxUnavailable: z
          .union([z.int().min(0), z.string()])
          .meta({ description: 'How many pods may be unavailable at once.' }),
      })
      .partial(),
    autoscaling: z
      .strictObject({
        enabled: z
          .boolean()
          .meta({ description: 'Creates a HorizontalPodAutoscaler. Mode deployment only; needs Redis.' }),
        minReplicas: z.int().min(1).meta({ description: 'Minimum number of pods.' }),
        maxReplicas: z.int().min(1).meta({ description: 'Maximum number of pods.' }),
        targetCPUUtilizationPercentage: z
          .int()
          .min(1)
          .meta({ description: "Target CPU use, in percent of the CPU request of the gate's container." }),
        behavior: object.meta({ description: 'Scaling behavior, with the field names of Kubernetes.' }),
      })
      .partial(),
    metrics: z
      .strictObject({
        serviceMonitor: z
          .strictObject({
            ...monitored('a ServiceMonitor for the Prometheus operator, and the headless Service that it scrapes'),
            interval: z.string().meta({ description: 'Scrape interval.' }),
            relabelings: objects.meta({ description: 'Relabelings, with the field names of the operator.' }),
            metricRelabelings: objects.meta({
              description: 'Metric relabelings, with the field names of the operator.',
            }),
          })
          .partial(),
        rules: z.strictObject(monitored('a PrometheusRule with the alerts of files/alerts.yaml')).partial(),
        dashboard: z
          .strictObject({
            ...monitored("a ConfigMap with files/dashboard.json, for Grafana's sidecar"),
            annotations: texts.meta({ description: 'Its annotations, such as the folder in Grafana.' }),
          })
          .partial(),
      })
      .partial(),
    serviceAccount: z
      .strictObject({
        create: z.boolean().meta({ description: 'Creates a ServiceAccount without permissions and without a token.' }),
        name: z.string().meta({ description: 'Its name, or that of an existing ServiceAccount.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    resources: object.meta({
      description: "Resources of the gate's container. The gate limits its heap to 60 % of the memory limit.",
    }),
    probes: z
      .strictObject({ startup: probe('startup'), liveness: probe('liveness'), readiness: probe('readiness') })
      .partial(),
    securityContext: object.meta({ description: "Security context of the gate's container." }),
    podSecurityContext: object.meta({ description: 'Security context of the pod. Mode deployment only.' }),
    terminationGracePeriodSeconds: z
      .union([z.int().min(1), z.null()])
      .meta({ description: '`null`: calculated from `config.listen.drain` and the times of a backend in the pod.' }),
    revisionHistoryLimit: count.meta({ description: 'Revision history limit of the Deployment.' }),
    annotations: texts.meta({ description: 'Annotations of the Deployment.' }),
    labels: texts.meta({ description: 'Additional labels of every object.' }),
    podAnnotations: texts.meta({ description: 'Annotations of the pods.' }),
    podLabels: texts.meta({ description: 'Additional labels of the pods.' }),
    priorityClassName: z.string().meta({ description: 'Priority class of the pods.' }),
    nodeSelector: texts.meta({ description: 'Node selector of the pods.' }),
    tolerations: objects.meta({ description: 'Tolerations of the pods.' }),
    affinity: object.meta({ description: 'Affinity of the pods.' }),
    topologySpreadConstraints: objects.meta({
      description: 'Topology spread of the pods. Empty: several replicas are spread over nodes.',
    }),
    test: z
      .strictObject({
        enabled: z.boolean().meta({ description: "Creates a `helm test` that requests the gate's metadata." }),
      })
      .partial(),
  })
  .partial();
