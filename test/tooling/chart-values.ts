import { z } from 'zod';

/** Values defined by Kubernetes, which its own schema validates after rendering. */
const object = z.record(z.string(), z.unknown());
const objects = z.array(object);
const texts = z.record(z.string(), z.string());
const count = z.int().min(0);

const probe = (what: string) => object.meta({ description: `Times of the ${what} probe, as Kubernetes names them.` });

const monitored = (what: string) => ({
  enabled: z.boolean().meta({ description: `Makes ${what}.` }),
  namespace: z.string().meta({ description: "Where it is made; the release's when left out." }),
  labels: texts.meta({ description: 'More labels, by which your monitoring finds it.' }),
});

/**
 * The values of the chart, helm/coursegate/values.yaml, as the source of its values.schema.json and the table in its
 * README. `config` is the gate's own configuration, whose schema is inserted there.
 */
export const chartValues = z
  .strictObject({
    global: object.meta({ description: 'Of a parent chart; not looked at, but templates in `config` may name it.' }),
    enabled: z.boolean().meta({ description: "For the `condition` of a parent chart's dependency." }),
    mode: z.enum(['deployment', 'sidecar', 'inject']).meta({
      description:
        'A Deployment of this chart, a container that a parent chart includes, or one that the API server adds.',
    }),
    nameOverride: z.string().meta({ description: 'Instead of `coursegate` in names and labels.' }),
    fullnameOverride: z.string().meta({ description: 'The name of all objects.' }),
    image: z
      .strictObject({
        repository: z.string().min(1).meta({ description: 'Where you pushed the image.' }),
        tag: z.string().meta({ description: "The chart's appVersion when empty." }),
        digest: z
          .string()
          .regex(/^(sha256:[0-9a-f]{64})?$/)
          .meta({ description: '`sha256:…`; the tag does not count then.' }),
        pullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).meta({ description: 'When the image is pulled.' }),
      })
      .partial(),
    imagePullSecrets: objects.meta({ description: 'Secrets of your registry.' }),
    replicas: count.meta({
      description:
        'How many pods run the gate. More than one need Redis and `secret`. For a sidecar: how many you run.',
    }),
    config: z.unknown().meta({
      description:
        'The configuration of the gate. `version`, `listen`, `store` and `secret` are filled in where left out; a text may be a template.',
    }),
    files: z.record(z.string().regex(/^[-._a-zA-Z0-9]+$/), z.string()).meta({
      description:
        'Files beside the configuration: tools, GraphQL schemas, a logo. `config` names them without a folder.',
    }),
    reload: z.boolean().meta({
      description:
        'A changed configuration is taken by the gate that runs, as far as it can be. `false`: the pods are restarted.',
    }),
    secret: z
      .strictObject({
        existingSecret: z.string().meta({ description: 'The Secret with the key material (32 bytes or more).' }),
        key: z.string().min(1).meta({ description: 'Its key; the gate gets it as `COURSEGATE_SECRET`.' }),
      })
      .partial(),
    redis: z
      .strictObject({
        existingSecret: z.string().meta({
          description: 'The Secret with the address of Redis. Makes Redis the store, unless `config.store` is given.',
        }),
        key: z.string().min(1).meta({ description: 'Its key; the gate gets it as `REDIS_URL`.' }),
      })
      .partial(),
    extraEnv: objects.meta({ description: 'More variables, such as what `config` reads by `{ env: NAME }`.' }),
    extraEnvFrom: objects.meta({ description: 'Secrets and ConfigMaps of which every key is a variable.' }),
    extraVolumes: objects.meta({ description: 'More volumes, such as certificates.' }),
    extraVolumeMounts: objects.meta({ description: "Where the gate's container has them." }),
    extraObjects: z
      .array(z.union([object, z.string()]))
      .meta({ description: 'More objects of the release; they may be templates.' }),
    persistence: z
      .strictObject({
        enabled: z
          .boolean()
          .meta({ description: 'A volume for the embedded store; without it, it ends with the pod.' }),
        existingClaim: z.string().meta({ description: 'A PersistentVolumeClaim that you have.' }),
        storageClass: z.string().meta({ description: "The cluster's default when empty." }),
        accessModes: z.array(z.string()).min(1).meta({ description: 'Who may have the volume.' }),
        size: z.string().meta({ description: 'Its size.' }),
        annotations: texts.meta({ description: 'Of the claim, which `helm uninstall` leaves.' }),
      })
      .partial(),
    backend: z
      .strictObject({
        container: object.meta({
          description: 'Your backend in the same pod, as a container of Kubernetes. Mode deployment.',
        }),
        preStopSeconds: count.meta({ description: 'How long it goes on while balancers learn that the pod is going.' }),
        terminationSeconds: count.meta({ description: 'What it may take to end after that.' }),
      })
      .partial(),
    sidecar: z
      .strictObject({
        native: z.boolean().meta({
          description: 'An init container that keeps running (Kubernetes 1.29). `false`: one of your `containers`.',
        }),
        podLabels: texts.meta({ description: 'What finds your pods. Needed in mode sidecar.' }),
      })
      .partial(),
    inject: z
      .strictObject({
        label: z.string().min(1).meta({ description: 'Pods that have this label, set to "true", get the gate.' }),
        apiVersion: z
          .string()
          .regex(/^admissionregistration\.k8s\.io\/v1(beta1|alpha1)?$/)
          .meta({ description: 'v1 from Kubernetes 1.36; before that what your cluster was told to serve.' }),
      })
      .partial(),
    service: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Makes a Service that leads to the gate.' }),
        type: z.enum(['ClusterIP', 'NodePort', 'LoadBalancer']).meta({ description: 'Of which kind.' }),
        port: z.int().min(1).max(65_535).meta({ description: 'Its port.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    ingress: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Makes an Ingress for the host of `config.origin`.' }),
        className: z.string().meta({ description: "The cluster's default when empty." }),
        annotations: texts.meta({ description: 'Its annotations.' }),
        tlsSecret: z.string().meta({ description: 'The Secret with its certificate.' }),
      })
      .partial(),
    httpRoute: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Makes an HTTPRoute (Gateway API) for the host of `config.origin`.' }),
        parentRefs: objects.meta({ description: 'The Gateways it is attached to.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    networkPolicy: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Lets others reach the gate and nothing else of the pod.' }),
        from: objects.meta({ description: 'Who may reach the gate; empty: everybody.' }),
        metricsFrom: objects.meta({
          description:
            'Who may read the metrics; empty: the whole cluster when there is a ServiceMonitor, else nobody.',
        }),
        extraIngress: objects.meta({ description: "More rules, for other ports of your pod's." }),
        backend: z
          .strictObject({
            podLabels: texts.meta({ description: 'A backend in pods of its own: only the gate may reach these.' }),
            extraIngress: objects.meta({ description: 'And these, as rules of a NetworkPolicy.' }),
          })
          .partial(),
      })
      .partial(),
    podDisruptionBudget: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Makes a PodDisruptionBudget. Mode deployment.' }),
        maxUnavailable: z
          .union([z.int().min(0), z.string()])
          .meta({ description: 'How many pods may be gone at once.' }),
      })
      .partial(),
    autoscaling: z
      .strictObject({
        enabled: z.boolean().meta({ description: 'Makes a HorizontalPodAutoscaler. Mode deployment; needs Redis.' }),
        minReplicas: z.int().min(1).meta({ description: 'Never fewer.' }),
        maxReplicas: z.int().min(1).meta({ description: 'Never more.' }),
        targetCPUUtilizationPercentage: z
          .int()
          .min(1)
          .meta({ description: "Of the CPU request of the gate's container." }),
        behavior: object.meta({ description: 'How fast it goes up and down, as Kubernetes names it.' }),
      })
      .partial(),
    metrics: z
      .strictObject({
        serviceMonitor: z
          .strictObject({
            ...monitored('a ServiceMonitor of the Prometheus operator, and the headless Service it looks at'),
            interval: z.string().meta({ description: 'How often.' }),
            relabelings: objects.meta({ description: 'As the operator names them.' }),
            metricRelabelings: objects.meta({ description: 'As the operator names them.' }),
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
        create: z.boolean().meta({ description: 'Makes a ServiceAccount, which has no rights and no token.' }),
        name: z.string().meta({ description: 'Its name, or that of one you have.' }),
        annotations: texts.meta({ description: 'Its annotations.' }),
      })
      .partial(),
    resources: object.meta({ description: 'Of the container. Node may use three quarters of the memory limit.' }),
    probes: z
      .strictObject({ startup: probe('startup'), liveness: probe('liveness'), readiness: probe('readiness') })
      .partial(),
    securityContext: object.meta({ description: 'Of the container.' }),
    podSecurityContext: object.meta({ description: 'Of the pod. Mode deployment.' }),
    terminationGracePeriodSeconds: z
      .union([z.int().min(1), z.null()])
      .meta({ description: '`null`: as long as `config.listen.drain` and a backend in the pod may take.' }),
    revisionHistoryLimit: count.meta({ description: 'Of the Deployment.' }),
    annotations: texts.meta({ description: 'Of the Deployment.' }),
    labels: texts.meta({ description: 'Of every object.' }),
    podAnnotations: texts.meta({ description: 'Of the pods.' }),
    podLabels: texts.meta({ description: 'Of the pods.' }),
    priorityClassName: z.string().meta({ description: 'Of the pods.' }),
    nodeSelector: texts.meta({ description: 'Of the pods.' }),
    tolerations: objects.meta({ description: 'Of the pods.' }),
    affinity: object.meta({ description: 'Of the pods.' }),
    topologySpreadConstraints: objects.meta({
      description: 'Of the pods; empty: spread over nodes when there are several.',
    }),
    test: z
      .strictObject({ enabled: z.boolean().meta({ description: 'Has `helm test` ask the gate for its metadata.' }) })
      .partial(),
  })
  .partial();
