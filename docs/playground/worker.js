var a=`
import json
from tilesim.player import playground
lambda form: json.dumps(playground.answer(json.loads(form)))
`,i=n=>postMessage(n),t=n=>new URL(n,self.location.href).href;async function c(){let n=fetch(t("tilesim.zip")).then(s=>s.arrayBuffer()),{loadPyodide:e}=await import(t("pyodide/pyodide.mjs")),r=await e({indexURL:t("pyodide/"),packages:["numpy"]});return r.unpackArchive(await n,"zip"),r.runPython(a)}var o=c();o.catch(n=>i({kind:"failed",sentence:String(n)}));addEventListener("message",async({data:n})=>{let e=await o.catch(()=>null);if(e)try{i({kind:"answer",number:n.number,...JSON.parse(e(JSON.stringify(n.form)))})}catch(r){let s=String(r).trim().split(`
`);i({kind:"answer",number:n.number,errors:{schedules:s[s.length-1]}})}});
